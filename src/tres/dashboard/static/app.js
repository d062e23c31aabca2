// The frame: which view is shown, light or dark, what was said last.

import { Unwelcome, tell } from "./api.js";
import { h, write } from "./dom.js";
import { recolour } from "./charts.js";
import { runView } from "./run.js";
import { runsView } from "./runs.js";

const main = document.getElementById("main");
let view = null;

export const frame = {
  say(text, isProblem = false) {
    const said = document.getElementById("said");
    said.className = isProblem ? "problem" : "";
    write(said, text);
    clearTimeout(frame.timer);
    frame.timer = setTimeout(() => write(said, ""), isProblem ? 12000 : 6000);
  },

  // Tells the server something; what comes of it is said.
  async does(path, body) {
    try {
      frame.say((await tell(path, body)).said ?? "Done.");
      view?.soon?.();
      return true;
    } catch (problem) {
      if (problem instanceof Unwelcome) frame.heard(problem);
      else frame.say(problem.message, true);
      return false;
    }
  },

  // Every answer, or its absence, is heard of here.
  heard(problem) {
    if (problem instanceof Unwelcome) askForToken(problem.message);
    write(document.getElementById("link"), problem?.message ?? "");
  },
};

function show() {
  const hash = location.hash;
  if (hash.startsWith("#token=")) return void login(decodeURIComponent(hash.slice(7)));
  const [, kind, key] = hash.split("/");
  view?.stop();
  main.replaceChildren();
  view = kind === "run" && key ? runView(main, decodeURIComponent(key), frame) : runsView(main, frame);
}

async function login(token) {
  history.replaceState(null, "", location.pathname); // it stays neither in sight nor in the history
  try {
    await tell("/api/login", { token });
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
