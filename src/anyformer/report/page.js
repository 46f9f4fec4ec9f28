"use strict";
// Shows one point of the frontier at a time: #point=3 names it, counted from 1. All text is set as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const set = (id, text) => { by(id).textContent = text; };
  const slider = by("point"), layer = by("layer");
  const nLayers = data.points[0].layers.length;

  function made(tag, name, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // Lines break between words only, not at hyphens.
  function code(id, text) {
    by(id).replaceChildren(...text.split(" ").flatMap((word) => [made("span", "", word), " "]));
  }

  function fact(id, value, none) {
    set(id, value || none);
    by(id).classList.toggle("none", !value);
  }

  function show(i) {
    const point = data.points[i];
    slider.value = i;
    const latency = point.latency ? ", " + point.latency : "";
    const said = point.share + " of the MACs, " + data.metric + " " + point.score + latency;
    slider.setAttribute("aria-valuetext", said);
    set("said", said);
    set("share", point.share);
    set("score", point.score);
    set("compared", point.compared);
    fact("bound", point.bound, "not promised");
    set("promise", point.promise);
    fact("latency", point.latency, "not measured");
    set("plan", "What goes on: " + point.plan);
    code("command", point.command || "");
    code("python", point.python || "");
    by("runs").hidden = !point.command;
    by("unbought").hidden = Boolean(point.command);
    document.querySelectorAll("[data-point]").forEach((element) => {
      const own = Number(element.dataset.point) === i;
      element.classList.toggle("chosen", own);
      if (element.tagName === "TR") own ? element.setAttribute("aria-current", "true") : element.removeAttribute("aria-current");
    });
    drawBars(point);
    fade(i);
  }

  function drawBars(point) {
    const bars = [bar("in", { kept: 1, left: 0, runs: true }, false)];
    const told = point.layers.filter((one) => one.left > 0).length <= 4 || nLayers <= 16;
    point.layers.forEach((one, i) => bars.push(bar(String(i), one, told && one.left > 0)));
    by("bars").replaceChildren(...bars);
    by("bars").classList.toggle("dense", nLayers > 16);
    by("drawing").style.maxWidth = 88 * (nLayers + 1) + "px";
    layer.style.width = "calc(" + 100 * nLayers / (nLayers + 1) + "% + 16px)";  // thumbs stand below the bars
    by("bars").setAttribute("aria-label", "Share of the tokens that goes on after each layer: " + point.plan);
  }

  function bar(name, one, told) {
    const column = made("div", one.runs ? "" : "skipped"), track = made("div", "track");
    if (told) track.append(made("b", "", String(Math.round(one.kept * 100))));
    for (const [part, value] of [["left", one.left], ["kept", one.kept]]) {
      const piece = made("div", part);
      piece.style.height = 100 * value + "px";
      track.append(piece);
    }
    column.append(track, made("span", "", name));
    return column;
  }

  function writeTexts() {
    data.texts.forEach((text, t) => {
      const box = made("p", "tokens");
      for (const token of text.tokens) {
        box.append(token.gap || (token.special && box.hasChildNodes() ? " " : ""));
        box.append(made("span", token.special ? "special" : "", token.piece));
        if (token.special) box.append(" ");
      }
      by("texts").append(made("p", "caption"), box);
    });
  }

  // A token that left is struck through and fainter the earlier it left.
  function fade(i) {
    if (!data.texts.length) return;
    const through = Number(layer.value);
    const after = through ? "after layer " + (through - 1) : "as it comes in";
    layer.setAttribute("aria-valuetext", after);
    set("after", "The text " + after + ": tokens on a tinted ground go on, the others have left, the fainter the earlier.");
    by("bars").childNodes.forEach((column, c) => column.lastChild.classList.toggle("now", c === through));
    data.texts.forEach((text, t) => {
      const left = text.left[i];
      const spans = by("texts").children[2 * t + 1].querySelectorAll("span");
      spans.forEach((span, k) => {
        const gone = left[k] < through;
        span.classList.toggle("gone", gone);
        span.style.opacity = gone ? 0.42 + 0.28 * left[k] / nLayers : 1;
        span.title = left[k] < nLayers ? "leaves at layer " + left[k] : "stays";
      });
      const n = left.filter((one) => one >= through).length;
      const cut = text.is_cut ? " (the text was cut there)" : "";
      by("texts").children[2 * t].textContent = n + " of " + left.length + " tokens" + cut;
    });
  }

  function fromAddress() {
    const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("point")) - 1;
    return data.points[wanted] ? wanted : data.start;
  }

  writeTexts();
  code("remake", by("remake").textContent);
  show(fromAddress());
  slider.addEventListener("input", () => show(Number(slider.value)));
  slider.addEventListener("change", () => history.replaceState(null, "", "#point=" + (Number(slider.value) + 1)));
  layer.addEventListener("input", () => fade(Number(slider.value)));
  window.addEventListener("hashchange", () => show(fromAddress()));
  document.querySelectorAll("g[data-point]").forEach((group) => {
    group.addEventListener("click", () => { location.hash = "point=" + (Number(group.dataset.point) + 1); });
  });
})();
