// Charts, drawn by Chart.js. Colours come from the style sheet, so that light and dark are decided
// in one place. A chart out of sight is not drawn.

import { RECENT, count, counted, pace, percent } from "./dom.js";

const charts = new Set();

function colour(name) {
  const probe = document.createElement("i");
  probe.className = `probe-${name}`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const faint = (rgb) => rgb.replace(/^rgb\(/, "rgba(").replace(/\)$/, ", 0.14)");

function axis(title, extra = {}) {
  return {
    beginAtZero: true,
    ticks: { color: colour("quiet"), maxTicksLimit: 6, maxRotation: 0, ...extra.ticks },
    grid: { color: colour("grid"), drawOnChartArea: extra.position !== "right" },
    border: { display: false },
    title: { display: Boolean(title), text: title, color: colour("quiet") },
    ...(extra.position ? { position: extra.position } : {}),
    ...(extra.max ? { max: extra.max } : {}),
  };
}

class LiveChart {
  constructor(canvas, kind, series, axes, describe) {
    this.canvas = canvas;
    this.describe = describe;
    this.series = series;
    this.kind = kind;
    this.axes = axes;
    this.seen = true;
    this.draw();
    this.watch = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      if (this.seen && this.late) this.update(this.late);
    });
    this.watch.observe(canvas);
    charts.add(this);
  }

  draw() {
    const columns = this.chart?.data.datasets.map((dataset) => dataset.data) ?? [];
    const labels = this.chart?.data.labels ?? [];
    this.chart?.destroy();
    const datasets = this.series.map((one, i) => ({
      label: one.label,
      data: columns[i] ?? [],
      borderColor: colour(one.colour),
      backgroundColor: this.kind === "bar" ? colour(one.colour) : faint(colour(one.colour)),
      borderWidth: this.kind === "bar" ? 0 : 2,
      fill: one.fill ?? false,
      yAxisID: one.axis ?? "y",
      pointRadius: 0,
      pointHitRadius: 8,
      tension: 0,
      categoryPercentage: 1,
      barPercentage: 0.9,
    }));
    this.chart = new Chart(this.canvas, {
      type: this.kind,
      data: { labels, datasets },
      options: {
        animation: false,
        parsing: this.kind === "bar",
        normalized: true,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: this.axes(),
        plugins: {
          legend: {
            display: this.series.length > 1,
            align: "end",
            labels: { color: colour("ink"), boxWidth: 14, boxHeight: 2 },
          },
        },
      },
    });
  }

  // Takes points per series, or heights of bars.
  update(columns) {
    this.late = this.seen ? null : columns;
    if (!this.seen) return;
    columns.forEach((column, i) => (this.chart.data.datasets[i].data = column));
    this.chart.update("none");
    this.canvas.setAttribute("aria-label", this.describe(columns));
  }

  stop() {
    this.watch.disconnect();
    this.chart.destroy();
    charts.delete(this);
  }
}

export function recolour() {
  for (const chart of charts) chart.draw();
}

const last = (column) => column.at(-1)?.y ?? 0;
const steps = () => ({ x: { type: "linear", ...axis("pages fetched"), beginAtZero: false } });
const asPercent = { ticks: { callback: (value) => `${Math.round(100 * value)}%` } };

// The charts of a run, by the name of their canvas.
export const CHARTS = {
  harvest: (canvas) =>
    new LiveChart(
      canvas,
      "line",
      [
        { label: `last ${RECENT} pages`, colour: "s1" },
        { label: "all pages", colour: "s0", fill: true },
      ],
      () => ({ ...steps(), y: axis("relevant share", { ...asPercent, max: 1 }) }),
      ([recent, all]) =>
        `Harvest rate: ${percent(last(all))} of all pages, ${percent(last(recent))} of the last ${RECENT}`,
    ),
  sites: (canvas) =>
    new LiveChart(
      canvas,
      "line",
      [{ label: "relevant sites", colour: "s0", fill: true }],
      () => ({ ...steps(), y: axis("sites") }),
      ([sites]) => `Sites with relevant pages: ${count(last(sites))}`,
    ),
  frontier: (canvas) =>
    new LiveChart(
      canvas,
      "line",
      [
        { label: "links waiting", colour: "s0", fill: true },
        { label: "leaves of the tree", colour: "s1", axis: "leaves" },
      ],
      () => ({ ...steps(), y: axis("links waiting"), leaves: axis("leaves of the tree", { position: "right" }) }),
      ([frontier, leaves]) => `${counted(last(frontier), "link waits", "links wait")} in ${counted(last(leaves), "leaf", "leaves")}`,
    ),
  pace: (canvas) =>
    new LiveChart(
      canvas,
      "line",
      [{ label: "pages per second", colour: "s0", fill: true }],
      () => ({ ...steps(), y: axis("pages per second") }),
      ([speed]) => `Pages per second: ${pace(last(speed))}`,
    ),
  relevance: (canvas) => {
    const chart = new LiveChart(
      canvas,
      "bar",
      [{ label: "pages", colour: "s0" }],
      () => ({ x: axis("relevance"), y: axis("pages") }),
      ([bins]) =>
        `Pages by relevance: ${count(bins.slice(0, 10).reduce((a, b) => a + b, 0))} below one half, ` +
        `${count(bins.slice(10).reduce((a, b) => a + b, 0))} above`,
    );
    chart.chart.data.labels = Array.from({ length: 20 }, (_, i) => (i / 20).toFixed(i % 2 ? 2 : 1));
    return chart;
  },
};

// A small curve without axes, for an entry of the list.
export function sparkline(values, label) {
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 100 24");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "spark");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const line = document.createElementNS(NS, "polyline");
  const step = 100 / Math.max(1, values.length - 1);
  line.setAttribute("points", values.map((v, i) => `${(i * step).toFixed(1)},${23 - 22 * v}`).join(" "));
  svg.append(line);
  return svg;
}
