"use strict";
(() => {
  const { figures, templates } = JSON.parse(document.getElementById("data").textContent);
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const narrowness = matchMedia("(max-width: 640px)");
  const paper = matchMedia("print");
  const PAPER_WIDTH = 630;
  const NARROW_LETTERS = 14;
  const TICK_PIXELS = 14;
  let printing = paper.matches;

  // A label is a row of letters and escaped letters; neither may be cut in two.
  function shortened(label) {
    const letters = String(label).match(/&#?\w+;|[^]/gu) || [];
    if (letters.length <= NARROW_LETTERS) return label;
    return [...letters.slice(0, 5), "…", ...letters.slice(6 - NARROW_LETTERS)].join("");
  }

  // Names next to each other need room: those that have none are left to hovering.
  function thinned(axis, span, pixels) {
    const kept = [];
    axis.tickvals.forEach((at, k) => {
      const last = kept.length ? axis.tickvals[kept[kept.length - 1]] : -Infinity;
      if ((at - last) * pixels >= TICK_PIXELS * span) kept.push(k);
    });
    const pick = (list) => kept.map((k) => list[k]);
    return { ...axis, tickvals: pick(axis.tickvals), ticktext: pick(axis.ticktext) };
  }

  function traces(figure, template, narrow) {
    return figure.data.map((trace) => {
      const copy = { ...trace };
      if (figure.names) {
        copy.customdata = figure.names.rows.map((row) => figure.names.cols.map((col) => [row, col]));
        copy.showscale = !narrow;
        if (narrow && figure.names.cols.length > 8) copy.texttemplate = "";
      }
      if (trace.meta && trace.meta.color !== undefined) {
        const color = template.layout.colorway[trace.meta.color];
        if (trace.line) copy.line = { ...trace.line, color };
        if (trace.marker) copy.marker = { ...trace.marker, color };
      }
      return copy;
    });
  }

  function layout(figure, template, narrow, width) {
    const copy = { ...figure.layout, template, dragmode: false, autosize: !printing };
    copy.margin = { ...figure.layout.margin, t: 24, l: 8, r: narrow ? 14 : 28 };
    if (printing) copy.width = PAPER_WIDTH;
    for (const key of Object.keys(copy).filter((name) => /^[xy]axis\d*$/.test(name))) {
      copy[key] = { ...copy[key], fixedrange: true };
      if (narrow && copy[key].ticktext) copy[key].ticktext = copy[key].ticktext.map(shortened);
      if (figure.names && key === "xaxis") {
        copy[key] = thinned(copy[key], figure.names.cols.length, (narrow ? 0.55 : 0.75) * width);
      }
      if (narrow && figure.names) copy[key].tickfont = { size: 10 };
    }
    return copy;
  }

  function draw() {
    const narrow = narrowness.matches && !printing;
    const template = templates[darkness.matches && !printing ? "dark" : "light"];
    for (const place of document.querySelectorAll("[data-figure]")) {
      const figure = figures[place.dataset.figure];
      const config = { displayModeBar: false, displaylogo: false, responsive: true, showTips: false };
      const width = printing ? PAPER_WIDTH : place.clientWidth;
      Plotly.react(place, traces(figure, template, narrow), layout(figure, template, narrow, width), config);
    }
  }

  function print(on) {
    if (on !== printing) {
      printing = on;
      draw();
    }
  }

  function switchTopics() {
    const tabs = [...document.querySelectorAll('[role="tab"]')];
    const panels = tabs.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
    function show(number) {
      tabs.forEach((tab, k) => {
        tab.setAttribute("aria-selected", String(k === number));
        tab.tabIndex = k === number ? 0 : -1;
        panels[k].hidden = k !== number;
      });
    }
    const moves = {
      ArrowDown: (k) => (k + 1) % tabs.length,
      ArrowRight: (k) => (k + 1) % tabs.length,
      ArrowUp: (k) => (k + tabs.length - 1) % tabs.length,
      ArrowLeft: (k) => (k + tabs.length - 1) % tabs.length,
      Home: () => 0,
      End: () => tabs.length - 1,
    };
    tabs.forEach((tab, k) => {
      panels[k].setAttribute("role", "tabpanel");
      panels[k].setAttribute("aria-labelledby", tab.id);
      panels[k].tabIndex = 0;
      tab.addEventListener("click", () => show(k));
      tab.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey || !Object.hasOwn(moves, event.key)) return;
        event.preventDefault();
        const next = moves[event.key](k);
        show(next);
        tabs[next].focus();
      });
    });
    const follow = () => show(Math.max(0, panels.findIndex((panel) => `#${panel.id}` === location.hash)));
    addEventListener("hashchange", () => {
      if (panels.some((panel) => `#${panel.id}` === location.hash)) follow();
    });
    document.querySelector(".switch").classList.add("ready");
    document.querySelector(".tabs").hidden = false;
    follow();
  }

  switchTopics();
  draw();
  darkness.addEventListener("change", draw);
  narrowness.addEventListener("change", draw);
  paper.addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
})();
