import "./early/start";
import "@fontsource-variable/inter/index.css";
import "@mantine/core/styles.css";
import "./page.css";
// Takes the reason of a failed sign-in out of the address, before the router reads that.
import "./access/refusal";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/queries";
import { router } from "./routes";
import { readEarly } from "./shell/early";
import { theme, variables } from "./theme";
import { ToastArea } from "./ui/toast";
import { AnchorProvider } from "./window/scope";

const render = () =>
  createRoot(document.getElementById("root") as HTMLElement).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <ToastArea />
        <QueryClientProvider client={queryClient}>
          <AnchorProvider>
            <RouterProvider router={router} />
          </AnchorProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );

/** The first rendering waits so many milliseconds for what it shows: one with figures, in place of three. */
const patience = 250;

// Not awaited here: the build would part what waits for it into a dozen files.
// What fails here is told by the page that asks for it again.
Promise.race([Promise.all([readEarly(), router.load()]), new Promise((resolve) => setTimeout(resolve, patience))]).then(
  render,
  render,
);
