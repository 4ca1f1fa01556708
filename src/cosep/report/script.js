"use strict";
(() => {
  const { figures, templates } = JSON.parse(document.getElementById("data").textContent);
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const narrowness = matchMedia("(max-width: 640px)");
  const paper = matchMedia("print");
  const PAPER_WIDTH = 660;
  const NARROW_LETTERS = 13;
  let printing = paper.matches;

  // A label is a row of letters and escaped letters; neither may be cut in two.
  function shortened(label) {
    const letters = String(label).match(/&#?\w+;|[^]/gu) || [];
    return letters.length > NARROW_LETTERS ? letters.slice(0, NARROW_LETTERS - 1).join("") + "…" : label;
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

  function layout(figure, template, narrow) {
    const copy = { ...figure.layout, template, dragmode: false, autosize: !printing };
    copy.margin = { ...figure.layout.margin, t: 24, l: 8, r: 8 };
    if (printing) copy.width = PAPER_WIDTH;
    for (const key of Object.keys(copy).filter((name) => /^[xy]axis\d*$/.test(name))) {
      copy[key] = { ...copy[key], fixedrange: true };
      if (narrow && copy[key].ticktext) copy[key].ticktext = copy[key].ticktext.map(shortened);
      if (narrow && figure.names) copy[key].tickfont = { size: 11 };
    }
    return copy;
  }

  function draw() {
    const narrow = narrowness.matches && !printing;
    const template = templates[darkness.matches && !printing ? "dark" : "light"];
    for (const place of document.querySelectorAll("[data-figure]")) {
      const figure = figures[place.dataset.figure];
      const config = { displayModeBar: false, displaylogo: false, responsive: true, showTips: false };
      Plotly.react(place, traces(figure, template, narrow), layout(figure, template, narrow), config);
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
