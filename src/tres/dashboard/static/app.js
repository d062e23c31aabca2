// The frame: the current view, light or dark, the last notice.

import { Unauthorized, post } from "./api.js";
import { h, write } from "./dom.js";
import { recolour } from "./charts.js";
import { runView } from "./run.js";
import { runsView } from "./runs.js";

const main = document.getElementById("main");
let view = null;

export const frame = {
  notify(text, isProblem = false) {
    const notice = document.getElementById("notice");
    notice.className = isProblem ? "problem" : "";
    write(notice, text);
    clearTimeout(frame.timer);
    frame.timer = setTimeout(() => write(notice, ""), isProblem ? 12000 : 6000);
  },

  // Sends a change to the server and shows the answer.
  async send(path, body) {
    try {
      frame.notify((await post(path, body)).said ?? "Done.");
      view?.soon?.();
      return true;
    } catch (problem) {
      if (problem instanceof Unauthorized) frame.reportConnection(problem);
      else frame.notify(problem.message, true);
      return false;
    }
  },

  // Shows whether the server answers.
  reportConnection(problem) {
    if (problem instanceof Unauthorized) askForToken(problem.message);
    write(document.getElementById("link"), problem?.message ?? "");
  },
};

function show() {
  const hash = location.hash;
  if (hash.startsWith("#token=")) return void login(decodeURIComponent(hash.slice(7)));
  const [, kind, key] = hash.split("/");
  view?.stop();
  document.getElementById("dialog").close(); // it is about the view that goes
  main.replaceChildren();
  view = kind === "run" && key ? runView(main, decodeURIComponent(key), frame) : runsView(main, frame);
}

async function login(token) {
  history.replaceState(null, "", location.pathname); // keep it out of sight and out of the history
  try {
    await post("/api/login", { token });
    show();
  } catch (problem) {
    askForToken(problem.message);
  }
}

function askForToken(message) {
  view?.stop();
  view = null;
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const form = h(
    "form",
    { class: "card narrow", onsubmit: (event) => (event.preventDefault(), login(field.value)) },
    h("h1", {}, "Token"),
    h("p", { class: "muted", role: "alert" }, message),
    h("label", { for: "token" }, "The token that “tres dashboard” has printed"),
    field,
    h("button", { class: "primary" }, "Open"),
  );
  main.replaceChildren(form);
  field.focus();
}

const THEMES = ["auto", "light", "dark"];

function useTheme(theme) {
  const root = document.documentElement;
  if (theme === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const control = document.getElementById("theme");
  write(control, { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[theme]);
  control.setAttribute("aria-label", `Colours: ${theme}. Change to ${next}.`);
  control.onclick = () => {
    localStorage.setItem("theme", next);
    useTheme(next);
  };
  recolour();
}

useTheme(THEMES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto");
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
addEventListener("hashchange", show);
show();
