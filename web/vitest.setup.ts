import { cleanup } from "@testing-library/react";
import { afterEach, vi } from "vitest";

afterEach(cleanup);

// happy-dom has no canvas. What is drawn is the browser tests' affair; here it is drawn on nothing.
const nowhere = new Proxy({}, { get: (kept, name) => Reflect.get(kept, name) ?? (() => ({ width: 0 })) });
HTMLCanvasElement.prototype.getContext = (() => nowhere) as never;
vi.stubGlobal(
  "Path2D",
  class {
    rect() {}
    moveTo() {}
    lineTo() {}
    arc() {}
    addPath() {}
  },
);
