// Sets the colour scheme before anything is painted: a script of its own, since
// the content security policy has no inline ones. The key is Mantine's.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mantine-color-scheme-value");
  } catch {
    // Without storage the scheme is the system's.
  }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const scheme = dark ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
  // What the browser paints before the style sheet is there.
  document.querySelector('meta[name="color-scheme"]')?.setAttribute("content", scheme);
})();
