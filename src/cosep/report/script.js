"use strict";
(() => {
  const { figures, templates, finder } = JSON.parse(document.getElementById("data").textContent);
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const narrowness = matchMedia("(max-width: 640px)");
  const paper = matchMedia("print");
  const PAPER_WIDTH = 630;
  const NARROW_LETTERS = 14;
  const TICK_PIXELS = 14;
  const MOST_MATCHES = 12;
  const SIDES = { r: "rows", c: "cols" };
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

  // The parts of an element: its tag, its class, and texts or other elements. Names are texts, never markup.
  function made(tag, kind, ...parts) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...parts);
    return element;
  }

  function button(side, place) {
    const element = made("button", "look", made("bdi", "", finder.sides[side].names[place]));
    element.dataset.at = side[0] + finder.sides[side].index[place];
    return element;
  }

  // Why this one was not selected, or what it stands for.
  function reason(data, place, head) {
    const { noun, nouns } = data;
    const own = place < data.heads.length;
    if (!data.mix[place].length) return made("p", "", `It has no part in any selected ${noun}, so there is nothing to compare it with.`);
    const near = made("p", "", `Nearest selected ${noun}: `, made("bdi", "", `“${head}”`));
    if (data.similarity[place]) near.append(`, with a cosine of ${data.similarity[place]}.`);
    if (own) return made("div", "", made("p", "", made("strong", "", `This ${noun} is selected. `), `It stands for itself and for ${nouns} like it.`), ...(data.names[place] === head ? [] : [near]));
    const why = made("p", "", made("strong", "", "Why not this one? "));
    why.append("In the place of ", made("bdi", "", `“${head}”`), `, with the rest of the model as it is, it would explain ${data.instead[place]} of the matrix; `);
    why.append(made("bdi", "", `“${head}”`), ` explains ${data.own[place]} in this way.`);
    return made("div", "", near, why);
  }

  function answer(side, index) {
    const data = finder.sides[side];
    const place = data.index.indexOf(index);
    const box = document.getElementById("answer");
    if (place < 0) return;
    const title = made("h3", "", made("bdi", "", data.names[place]));
    const explained = data.explained[place] === "" ? `This ${data.noun} is all zero: there is nothing to explain.` : `${data.explained[place]} of this ${data.noun} is explained by the model.`;
    const state = data.assigned[place] ? "" : ` It is unassigned: less than ${finder.least} is explained.`;
    const mix = made("ul", "bars");
    for (const [topic, share] of data.mix[place]) {
      const bar = made("span", "bar");
      bar.style.setProperty("--part", parseFloat(share) / 100);
      mix.append(made("li", "", made("bdi", "what", `${topic + 1}. ${data.heads[topic]}`), bar, made("span", "number", share)));
    }
    const head = data.mix[place].length ? data.heads[data.mix[place][0][0]] : "";
    const close = made("button", "close", "Close");
    close.type = "button";
    close.addEventListener("click", () => {
      box.hidden = true;
      document.getElementById("search").focus();
    });
    const heading = made("h4", "", side === "rows" ? "Its mix of topics" : `Its mix of selected ${data.nouns}`);
    box.replaceChildren(close, made("p", "overline", data.noun), title, made("p", "", explained + state));
    if (mix.children.length) box.append(heading, mix);
    box.append(reason(data, place, head));
    box.hidden = false;
    box.focus({ preventScroll: true });
    box.scrollIntoView({ block: "nearest" });
  }

  function search() {
    const words = document.getElementById("search").value.trim().toLowerCase();
    const matches = document.getElementById("matches");
    for (const row of document.querySelectorAll("#overview tbody tr")) {
      row.hidden = words !== "" && !row.textContent.toLowerCase().includes(words);
    }
    matches.replaceChildren();
    if (!words) return;
    for (const [side, data] of Object.entries(finder.sides)) {
      const found = data.names.map((name, place) => [name.toLowerCase(), place]).filter(([name]) => name.includes(words));
      // Whole names come first, then beginnings.
      const rank = ([name]) => (name === words ? 0 : name.startsWith(words) ? 1 : 2);
      found.sort((one, other) => rank(one) - rank(other));
      const line = made("p", "", made("strong", "", `${data.nouns}: `));
      found.slice(0, MOST_MATCHES).forEach(([, place]) => line.append(button(side, place)));
      if (!found.length) line.append("none");
      if (found.length > MOST_MATCHES) line.append(made("span", "", `and ${(found.length - MOST_MATCHES).toLocaleString("en")} more`));
      matches.append(line);
      if (data.note && !found.length) matches.append(made("p", "small", data.note));
    }
  }

  function find() {
    const known = Object.fromEntries(Object.entries(finder.sides).map(([side, data]) => [side, new Set(data.index)]));
    for (const one of document.querySelectorAll("button.look")) {
      if (!known[SIDES[one.dataset.at[0]]].has(Number(one.dataset.at.slice(1)))) one.disabled = true;
    }
    document.addEventListener("click", (event) => {
      const one = event.target.closest("button.look");
      if (one) answer(SIDES[one.dataset.at[0]], Number(one.dataset.at.slice(1)));
    });
    const box = document.getElementById("search");
    box.addEventListener("input", search);
    box.addEventListener("keydown", (event) => {
      const first = document.querySelector("#matches button");
      if (event.key === "Enter" && first) first.click();
    });
    document.querySelector(".find").hidden = false;
  }

  // A click on a header sorts the table by it; numbers from large to small first.
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (table.id && !head.dataset.sort) return;
      const control = made("button", "sort", ...head.childNodes);
      control.type = "button";
      head.append(control);
      control.addEventListener("click", () => {
        const body = table.tBodies[0];
        const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
        const rows = [...body.rows];
        const isNumber = rows.every((row) => /^[<>−-]?[\d.,e+-]*%?$/.test(value(row)));
        const number = (row) => parseFloat(value(row).replace(/[<>,%]/g, "").replace("−", "-")) || 0;
        const before = head.getAttribute("aria-sort");
        const down = before ? before === "ascending" : isNumber && column > 0;
        const compare = isNumber ? (a, b) => number(a) - number(b) : (a, b) => value(a).localeCompare(value(b), "en", { numeric: true });
        rows.sort((a, b) => (down ? compare(b, a) : compare(a, b)));
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...rows);
      });
    });
  }

  find();
  document.querySelectorAll("table.sortable").forEach(sortable);
  switchTopics();
  draw();
  darkness.addEventListener("change", draw);
  narrowness.addEventListener("change", draw);
  paper.addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
})();
