"use strict";
// The table of pages: sorted, filtered and paged from the columns that the page carries.
// Text from the Web is set as text; only http(s) addresses become links.
(() => {
  const data = JSON.parse(document.getElementById("all-pages").textContent);
  const table = document.getElementById("page-table");
  const body = table.tBodies[0];
  const shown = document.getElementById("shown");
  let size = Number(table.dataset.size);
  const count = data.step.length;
  const number = new Intl.NumberFormat("en").format;

  const urls = (() => {
    const last = new Map();
    return data.host.map((host, row) => {
      const path = (last.get(host) || "").slice(0, data.shared[row]) + data.path[row];
      last.set(host, path);
      return data.hosts[host] + path;
    });
  })();
  const columns = { step: data.step, url: urls, relevance: data.relevance, q: data.q };

  const why = (row) => data.why[row].map((part) => data.parts[part]).join(" ");
  const extract = (row) => data.extract[data.step[row]];

  let texts = null; // what is searched, built at the first search
  const text = (row) => {
    texts = texts
      || urls.map((url, i) => [url, data.title[i], why(i), (extract(i) || []).join("")]
        .join("\n").toLowerCase());
    return texts[row];
  };

  const create = (name, content) => {
    const element = document.createElement(name);
    element.append(content);
    return element;
  };

  const titleLink = (row) => {
    const title = data.title[row] || urls[row];
    if (!/^https?:\/\//.test(urls[row])) return create("bdi", title);
    const link = create("a", title);
    link.href = urls[row];
    link.rel = "noreferrer noopener";
    return create("bdi", link);
  };

  const paragraphOf = (pieces) => {
    const paragraph = document.createElement("p");
    paragraph.dir = "auto";
    paragraph.append(...pieces.map((piece, place) => place % 2 ? create("mark", piece) : piece));
    return paragraph;
  };

  const reason = (row) => {
    const small = create("small", why(row));
    small.className = "why";
    return small;
  };

  const line = (row) => {
    const cells = [data.step[row], titleLink(row), (data.relevance[row] / 1000).toFixed(2)
      + (data.relevant[row] === "1" ? " ✓" : ""),
      data.q[row] === null ? "" : (data.q[row] / 100).toFixed(2)].map((cell) => create("td", cell));
    if (data.judged[data.step[row]]) cells[2].append(create("small", data.judged[data.step[row]]));
    if (data.title[row]) cells[1].append(create("small", urls[row]));
    if (extract(row)) cells[1].append(paragraphOf(extract(row)));
    cells[1].append(reason(row));
    const tr = document.createElement("tr");
    tr.append(...cells);
    return tr;
  };

  let order = [...Array(count).keys()];
  let key = "", falling = false, from = 0, rows = order;

  const compare = (a, b) => {
    const x = columns[key][a], y = columns[key][b];
    if (x === null || y === null) return (x === null) - (y === null) || a - b; // empty values come last
    return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1) || a - b;
  };

  const paint = () => {
    const end = Math.min(from + size, rows.length);
    body.replaceChildren(...rows.slice(from, end).map(line));
    const found = number(rows.length) + (rows.length === 1 ? " page" : " pages");
    const rest = rows.length === count ? "" : (rows.length === 1 ? " that matches" : " that match")
      + ", of " + number(count) + " in all";
    const range = rows.length > size ? number(from + 1) + " to " + number(end) + " of " : "";
    shown.textContent = rows.length ? range + found + rest : "No page matches.";
    back.disabled = from === 0;
    on.disabled = end >= rows.length;
  };

  const select = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row) => (!only.checked || data.relevant[row] === "1")
      && words.every((word) => text(row).includes(word));
    rows = words.length || only.checked ? order.filter(fits) : order;
    from = 0;
    paint();
  };

  const sort = (head) => {
    const next = head.dataset.key;
    falling = next === key ? !falling : next === "relevance" || next === "q";
    key = next;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    order = order.slice().sort(compare);
    select();
  };

  const turn = (by) => { from += by; paint(); table.scrollIntoView(); };

  const controls = document.getElementById("controls");
  const search = document.getElementById("search");
  const only = document.getElementById("only");
  const [back, on] = controls.querySelectorAll("button");
  for (const head of table.tHead.rows[0].cells) {
    const button = create("button", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }
  search.addEventListener("input", select);
  only.addEventListener("change", select);
  back.addEventListener("click", () => turn(-size));
  on.addEventListener("click", () => turn(size));
  const resize = (rowsShown) => { size = rowsShown; paint(); };
  addEventListener("beforeprint", () => resize(Number(table.dataset.printed)));
  addEventListener("afterprint", () => resize(Number(table.dataset.size)));
  controls.hidden = false;
  sort(table.querySelector("[data-key=relevance]"));
  document.documentElement.dataset.ready = "yes";
})();
