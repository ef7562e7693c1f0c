/* What the site needs in the browser, without a dependency and without a request.
 *
 * One classic script, so that it also runs from the disk. It is included where Material has inline
 * scripts, which the site's security policy forbids; `data-ts` says which part is due:
 *
 *   scope    in the head: where settings are kept
 *   palette  in the header: the colour scheme, before anything is painted
 *   search   after the search form: from the disk there is a sentence instead
 *   (none)   at the end of the page: menu, permalinks, folds and the filter of citations
 */
(() => {
  "use strict";
  const script = document.currentScript;

  /* Material's own script calls these four by name. Storage may be forbidden. */
  const scope = () => {
    window.__md_scope = new URL(script.dataset.base, location);
    window.__md_hash = (text) =>
      [...text].reduce((hash, char) => ((hash << 5) - hash + char.charCodeAt(0)) | 0, 0);
    window.__md_get = (key, storage, site = window.__md_scope) => {
      try {
        return JSON.parse((storage ?? localStorage).getItem(`${site.pathname}.${key}`));
      } catch {
        return null;
      }
    };
    window.__md_set = (key, value, storage, site = window.__md_scope) => {
      try {
        (storage ?? localStorage).setItem(`${site.pathname}.${key}`, JSON.stringify(value));
      } catch {
        /* The setting lasts as long as the page. */
      }
    };
  };

  const palette = () => {
    const options = [...document.querySelectorAll("[data-md-component=palette] input")];
    const media = (option) => option.getAttribute("data-md-color-media");
    const suits = (option) => media(option) && matchMedia(media(option)).matches;
    const chosen = options[window.__md_get("__palette")?.index];
    const isAutomatic = chosen && media(chosen) === "(prefers-color-scheme)";
    const option = chosen && !isAutomatic ? chosen : options.filter((o) => o !== chosen).find(suits);
    if (!option) return;
    for (const name of ["media", "scheme", "primary", "accent"]) {
      const attribute = `data-md-color-${name}`;
      document.body.setAttribute(attribute, option.getAttribute(attribute));
    }
  };

  const search = () => {
    if (location.protocol !== "file:") return;
    for (const part of document.querySelectorAll(".md-search, .md-header [for=__search]")) {
      part.remove();
    }
    addEventListener("DOMContentLoaded", () => {
      for (const sentence of document.querySelectorAll(".ts-nosearch")) sentence.hidden = false;
    });
  };

  /* navigator.clipboard is there on https and localhost only. */
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = document.createElement("textarea");
      field.className = "ts-sr";
      field.value = text;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  };

  const announce = (text) => {
    const status = document.querySelector(".ts-live");
    if (!status) return;
    status.textContent = text;
    clearTimeout(announce.timer);
    announce.timer = setTimeout(() => (status.textContent = ""), 3000);
  };

  /* A permalink still works as a link; a button (hidden without JavaScript) copies its text. */
  const onClick = async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a.ts-perma, a.headerlink, button[data-ts-copy]");
    if (!link) return;
    const url = new URL(link.getAttribute("href") ?? link.dataset.tsAnchor ?? "", location).href;
    const text = link.dataset.tsCopy?.replaceAll("{url}", () => url) ?? url;
    const active = document.activeElement;
    if (!(await copy(text))) return;
    active?.focus({ preventScroll: true });
    announce(link.dataset.tsCopied ?? document.querySelector(".ts-live")?.dataset.copied ?? "");
  };

  /* A link may lead into something folded. */
  const unfoldTarget = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      /* Then it is the name of no element, or literally this one. */
    }
    const target = document.getElementById(name);
    const folds = [];
    for (let at = target?.parentElement; at; at = at.parentElement) {
      if (at.matches("details:not([open])")) folds.push(at);
    }
    for (const fold of folds) fold.open = true;
    if (folds.length) target.scrollIntoView();
  };

  /* The theme's menu hangs on a hidden checkbox, which only a pointer reaches. */
  const menu = () => {
    const button = document.querySelector(".ts-menu");
    const toggle = document.getElementById("__drawer");
    if (!button || !toggle) return;
    button.addEventListener("click", () => toggle.click());
    for (const back of document.querySelectorAll(".md-nav--primary .md-nav__title[for]")) {
      back.tabIndex = 0; /* Material takes Enter on a label for a click. */
    }
    for (const level of document.querySelectorAll(".md-nav--primary .md-nav__toggle")) {
      const name = document.querySelector(`.md-nav__link[for="${level.id}"]`);
      level.addEventListener("change", () => level.checked || name?.focus());
    }
    toggle.addEventListener("change", () => button.setAttribute("aria-expanded", toggle.checked));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !toggle.checked) return;
      toggle.click();
      button.focus();
    });
  };

  /* A list of citations is whole; chosen classes, models and dimensions narrow it down. */
  const filter = () => {
    const form = document.querySelector(".ts-filter");
    if (!form) return;
    const rows = [...document.querySelectorAll(".ts-evl tbody tr")];
    const choices = [...form.querySelectorAll("select[data-filter]")];
    const shown = form.querySelector("output b");
    const narrow = () => {
      const wanted = choices.filter((choice) => choice.value);
      const suits = (row) => wanted.every((one) => row.dataset[one.dataset.filter] === one.value);
      let count = 0;
      for (const row of rows) count += (row.hidden = !suits(row)) ? 0 : 1;
      for (const part of document.querySelectorAll(".ts-evs")) {
        part.hidden = !part.querySelector(".ts-evl tbody tr:not([hidden])");
        const fold = part.querySelector(":scope > details");
        if (fold && wanted.length && !part.hidden) fold.open = true;
      }
      shown.textContent = count.toLocaleString(document.documentElement.lang);
    };
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", narrow);
    /* A link may lead to a citation that is not shown. */
    addEventListener("hashchange", () => {
      const target = document.getElementById(location.hash.slice(1));
      if (!target?.closest(".ts-evs") || target.checkVisibility()) return;
      form.reset();
      narrow();
      target.scrollIntoView();
    });
    narrow(); /* The browser may have kept what was chosen before. */
  };

  const page = () => {
    menu();
    filter();
    document.addEventListener("click", onClick);
    for (const button of document.querySelectorAll("button[data-ts-copy]")) button.hidden = false;
    addEventListener("hashchange", unfoldTarget);
    unfoldTarget();
  };

  ({ scope, palette, search, page })[script.dataset.ts ?? "page"]();
})();
