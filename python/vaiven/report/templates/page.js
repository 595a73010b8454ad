"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;

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

  // Marks of a logarithmic axis that would lie on each other are left out: the first of two stays.
  function thinned(axis, width, letter) {
    if (axis.type !== "log" || !axis.tickvals || !axis.range) return;
    const [low, high] = axis.range;
    let end = -Infinity;
    const kept = axis.tickvals.map((value, index) => {
      const middle = ((Math.log10(value) - low) / (high - low)) * width;
      const half = (axis.ticktext[index].length * letter) / 2;
      if (middle - half < end) return false;
      end = middle + half + letter;
      return true;
    });
    axis.ticktext = axis.ticktext.filter((_, index) => kept[index]);
    axis.tickvals = axis.tickvals.filter((_, index) => kept[index]);
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
      element.querySelector("[data-choose]")?.addEventListener("change", (event) => this.choose(event.target.value));
      for (const box of element.querySelectorAll("[data-role]")) {
        box.addEventListener("change", () => this.toggle(box.dataset.role, box.checked));
      }
      this.plot.addEventListener("keydown", (event) => this.key(event));
      this.plot.addEventListener("blur", () => this.leave());
    }

    draw() {
      const figure = themed(this.figures[this.choice], theme());
      for (const trace of figure.data) {
        if (this.roles.get(trace.meta.role) === false) trace.visible = false;
      }
      if (this.plot.clientWidth < 520) figure.layout.font.size = 11;
      thinned(figure.layout.xaxis, this.plot.clientWidth - 90, figure.layout.font.size * 0.62);
      this.drawn = true;
      const config = {
        responsive: true,
        displaylogo: false,
        modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
      };
      return Plotly.react(this.plot, figure.data, figure.layout, config);
    }

    choose(number) {
      this.choice = Number(number);
      this.at = null;
      this.figures.forEach((_, index) => {
        document.getElementById(`${this.element.id}-table-${index}`).hidden = index !== this.choice;
      });
      this.draw();
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

    // What can be pointed at: a line of spots per visible trace, a map by rows.
    lines() {
      const lines = [];
      this.plot.data.forEach((trace, curve) => {
        if (trace.visible === false || trace.visible === "legendonly" || trace.hoverinfo === "skip") return;
        if (trace.type === "heatmap") {
          trace.z.forEach((row, y) => {
            const spots = row.map((_, x) => ({ point: [y, x], text: `${trace.y[y]} → ${trace.x[x]}: ${trace.text[y][x]}` }));
            lines.push({ curve, name: "", spots });
          });
        } else {
          const spots = trace.x.map((x, point) => ({ point, x, text: trace.customdata[point].join(": ") }));
          lines.push({ curve, name: trace.name, spots });
        }
      });
      return lines;
    }

    say(line, spot) {
      const { point, text } = line.spots[spot];
      const plain = new DOMParser().parseFromString(`${line.name} ${text}`, "text/html").body.textContent;
      this.reading.textContent = plain.trim();
      Plotly.Fx.hover(this.plot, [{ curveNumber: line.curve, pointNumber: point }]);
    }

    leave() {
      this.reading.textContent = "";
      this.at = null;
      if (this.drawn) Plotly.Fx.unhover(this.plot);
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
  widgets.forEach((widget) => seen.observe(widget.element));

  function repaint() {
    const dark = theme() === "dark";
    button.textContent = dark ? "Light page" : "Dark page";
    button.setAttribute("aria-pressed", String(dark));
    widgets.filter((widget) => widget.drawn).forEach((widget) => widget.draw());
  }

  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    repaint();
  });
  systemDark.addEventListener("change", repaint);
  repaint();

  // On paper: light, everything open but repeated warnings, everything drawn; afterwards as it was.
  let closed = [];
  let wanted;
  addEventListener("beforeprint", () => {
    printing = true;
    wanted = root.dataset.theme;
    root.dataset.theme = "light";
    closed = [...document.querySelectorAll("details:not([open]):not(.warnings details)")];
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
