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
import { askEarly } from "./dashboard/early";
import { router } from "./routes";
import { theme, variables } from "./theme";
import { ToastArea } from "./ui/toast";
import { AnchorProvider } from "./window/scope";

askEarly();

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
