"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const hidden = new Set(); // stacks that the reader took away in a legend: they are away in every figure
  let printing = false;
  let library = null;

  function theme() {
    if (printing) return "light";
    return root.dataset.theme || (systemDark.matches ? "dark" : "light");
  }

  // A colour is {light, dark}; everything else is plotly's own.
  function themed(value, name) {
    if (Array.isArray(value)) return value.map((item) => themed(item, name));
    if (value === null || typeof value !== "object") return value;
    const keys = Object.keys(value);
    if (keys.length === 2 && "light" in value && "dark" in value) return value[name];
    return Object.fromEntries(keys.map((key) => [key, themed(value[key], name)]));
  }

  // Marks of an axis whose words stand level would lie on each other: of two the first stays.
  function thinned(axis, width, letter) {
    if (axis.tickangle !== 0 || !axis.tickvals || !axis.range) return;
    const [low, high] = axis.range;
    let end = -Infinity;
    const kept = axis.tickvals.map((value, index) => {
      const place = axis.type === "log" ? Math.log10(value) : axis.type === "category" ? index : value; // names: 0, 1, 2
      const middle = ((place - low) / (high - low)) * width;
      const half = (axis.ticktext[index].length * letter) / 2;
      if (middle - half < end) return false;
      end = middle + half + letter;
      return true;
    });
    axis.ticktext = axis.ticktext.filter((_, index) => kept[index]);
    axis.tickvals = axis.tickvals.filter((_, index) => kept[index]);
  }

  const PAPER = { width: 660, height: 340 }; // as page.css says of a plot on paper
  const groupOf = (trace) => trace.legendgroup || trace.name;
  const ofStack = (trace) => ["typical", "between", "floor", "wire"].includes(trace.meta.role);

  // The plotting library travels packed; the page's policy names the digest of what comes out.
  async function unpacked(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));
    const script = document.createElement("script");
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    return window.Plotly;
  }

  // A reader's own theme is kept where the browser lets a page keep anything.
  function kept(value) {
    try {
      if (value) localStorage.setItem("vaiven-theme", value);
      return localStorage.getItem("vaiven-theme");
    } catch {
      return null;
    }
  }

  class Widget {
    constructor(element) {
      this.element = element;
      this.plot = element.querySelector(".plot");
      this.reading = element.querySelector(".reading");
      this.figures = figures[element.id];
      this.choice = 0;
      this.roles = new Map();
      this.drawn = false;
      this.at = null;
      this.showTable();
      element.querySelector("[data-choose]")?.addEventListener("change", (event) => this.choose(event.target.value));
      for (const box of element.querySelectorAll("[data-role]")) {
        box.addEventListener("change", () => this.toggle(box.dataset.role, box.checked));
      }
      this.plot.addEventListener("keydown", (event) => this.key(event));
      this.plot.addEventListener("blur", () => this.leave());
    }

    draw() {
      if (!library) return;
      const figure = themed(this.figures[this.choice], theme());
      for (const trace of figure.data) {
        if (ofStack(trace) && trace.visible !== false && hidden.has(groupOf(trace))) trace.visible = "legendonly";
        if (this.roles.get(trace.meta.role) === false) trace.visible = false;
      }
      this.show();
      const wide = this.plot.clientWidth >= 520;
      if (printing) Object.assign(figure.layout, PAPER);
      if (!wide) figure.layout.font.size = 11;
      if (wide && !printing) figure.layout.margin.r = 44; // for the buttons, beside the legend and not on it
      const width = printing ? PAPER.width : this.plot.clientWidth;
      thinned(figure.layout.xaxis, width - 90, figure.layout.font.size * 0.62);
      const config = {
        responsive: true,
        displaylogo: false,
        modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
      };
      const done = library.react(this.plot, figure.data, figure.layout, config);
      if (!this.drawn) this.plot.on("plotly_restyle", () => this.taken());
      this.drawn = true;
      return done;
    }

    // The still picture gives way to the one that answers, with those switches that have something to switch.
    show() {
      this.element.querySelector(".still").hidden = true;
      this.plot.hidden = false;
      const controls = this.element.querySelector(".controls");
      if (controls) controls.hidden = false;
      for (const box of this.element.querySelectorAll("[data-role]")) {
        const switched = this.figures[this.choice].data.filter((trace) => trace.meta.role === box.dataset.role);
        box.parentElement.hidden = switched.every((trace) => trace.visible === false);
      }
    }

    // What the reader took away in this legend goes from all figures.
    taken() {
      const before = [...hidden].join();
      for (const trace of this.plot.data.filter(ofStack)) {
        if (trace.visible === "legendonly") hidden.add(groupOf(trace));
        else if (trace.visible !== false) hidden.delete(groupOf(trace));
      }
      if ([...hidden].join() !== before) widgets.filter((one) => one !== this && one.drawn).forEach((one) => one.draw());
    }

    choose(number) {
      this.choice = Number(number);
      this.at = null;
      this.showTable();
      this.draw();
    }

    showTable() {
      this.figures.forEach((_, index) => {
        document.getElementById(`${this.element.id}-table-${index}`).hidden = index !== this.choice;
      });
    }

    toggle(role, on) {
      this.roles.set(role, on);
      this.draw();
    }

    // Keys walk through what the mouse would point at, and say it aloud.
    key(event) {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (event.key === "Escape") this.leave();
      if (!step || !this.drawn) return;
      event.preventDefault();
      const lines = this.lines();
      if (!lines.length) return;
      const line = this.at ? (this.at.line + step[0] + lines.length) % lines.length : 0;
      const count = lines[line].spots.length;
      const spot = this.at ? Math.min(count - 1, Math.max(0, this.at.spot + step[1])) : 0;
      this.at = { line, spot };
      this.say(lines[line], spot);
    }

    // What can be pointed at: a line of spots per visible trace.
    lines() {
      const lines = [];
      this.plot.data.forEach((trace, curve) => {
        if (trace.visible === false || trace.visible === "legendonly" || trace.hoverinfo === "skip") return;
        const spots = trace.customdata.map((words, point) => ({ point, text: words.join(": ") }));
        lines.push({ curve, name: trace.name, spots });
      });
      return lines;
    }

    say(line, spot) {
      const { point, text } = line.spots[spot];
      const plain = new DOMParser().parseFromString(`${line.name} ${text}`, "text/html").body.textContent;
      this.reading.textContent = plain.trim();
      library.Fx.hover(this.plot, [{ curveNumber: line.curve, pointNumber: point }]);
    }

    leave() {
      this.reading.textContent = "";
      this.at = null;
      if (this.drawn) library.Fx.unhover(this.plot);
    }
  }

  const widgets = [...document.querySelectorAll("figure.widget")].map((element) => new Widget(element));
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const widget = widgets.find((one) => one.element === entry.target);
        if (entry.isIntersecting && !widget.drawn) widget.draw();
      }
    },
    { rootMargin: "600px" },
  );
  // Where nothing can unpack the library, the still pictures stay.
  unpacked("library").then(
    (plotly) => {
      library = plotly;
      widgets.forEach((widget) => seen.observe(widget.element));
    },
    () => {},
  );

  function repaint() {
    const dark = theme() === "dark";
    button.textContent = dark ? "Light page" : "Dark page";
    button.setAttribute("aria-pressed", String(dark));
    widgets.filter((widget) => widget.drawn).forEach((widget) => widget.draw());
  }

  if (["light", "dark"].includes(kept())) root.dataset.theme = kept();
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    kept(root.dataset.theme);
    repaint();
  });
  systemDark.addEventListener("change", repaint);
  repaint();

  // On paper: light, every pair of hosts, every figure, and of the tables those that are open; afterwards as it was.
  let closed = [];
  let wanted;
  addEventListener("beforeprint", () => {
    printing = true;
    wanted = root.dataset.theme;
    root.dataset.theme = "light";
    closed = [...document.querySelectorAll("section.pair > details:not(.numbers):not([open])")];
    closed.forEach((details) => (details.open = true));
    widgets.forEach((widget) => widget.draw());
  });
  addEventListener("afterprint", () => {
    printing = false;
    if (wanted) root.dataset.theme = wanted;
    else delete root.dataset.theme;
    closed.forEach((details) => (details.open = false));
    repaint();
  });
})();
