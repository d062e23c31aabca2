// Beginning a crawl: one of the topic files in the folder where the dashboard was started.

import { ask } from "./api.js";
import { dialog } from "./controls.js";
import { button, count, h } from "./dom.js";

export function newCrawl(frame) {
  const open = async () => {
    try {
      choose((await ask("/api/topics")).topics, frame);
    } catch (problem) {
      frame.say(problem.message, true);
    }
  };
  return button("New crawl …", open, { class: "primary", hidden: true });
}

function choose(topics, frame) {
  const usable = topics.find((topic) => !topic.problem);
  const field = h("div", { class: "topics", role: "radiogroup", "aria-label": "Topic" }, topics.map((topic) => line(topic, topic === usable)));
  const lines = usable
    ? ["It crawls the Web as its topic file says, as a process of its own, and goes on when the dashboard ends."]
    : ["There is no topic file in this folder that can be crawled. “tres init” writes one."];
  dialog("New crawl", lines, field, "Begin", () => {
    const chosen = field.querySelector("input:checked");
    if (chosen) frame.does("/api/crawls", { topic: chosen.value });
  });
}

function line(topic, checked) {
  const about = topic.problem
    ? h("small", { class: "problem" }, topic.problem)
    : h("small", {}, `${topic.file} · ${count(topic.pages)} pages · ${topic.keywords}`);
  const choice = h("input", { type: "radio", name: "topic", value: topic.key, checked, disabled: Boolean(topic.problem) });
  return h("label", {}, choice, h("span", {}, h("b", {}, topic.name), about));
}
