import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import type { Role } from "./api/session";
import { readers } from "./findings/may";
import { App } from "./shell/App";
import { Lost } from "./shell/Lost";
import { PageFailed } from "./shell/PageFailed";
import { PagePending } from "./shell/PagePending";
import type { ByTeam } from "./shell/TeamScope";
import { part } from "./ui/part";
import * as schemas from "./url/schemas";
import { parseSearch, type Schema, stringifySearch } from "./url/search";

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** In the browser's tab. */
    title?: string;
    /** Has the top bar's filter and window. */
    scoped?: boolean;
    /** Can be limited to a team. */
    team?: ByTeam;
    /** Without one of these permissions the page explains that it is not for its reader. */
    permission?: string;
    /** Those of another role are told the same. */
    roles?: readonly Role[];
    /** Somebody with the role team is told so, too. */
    whole?: boolean;
    /** For people who are not signed in: outside the shell. */
    public?: boolean;
    /** The same that validates, to say what it dropped. */
    search?: Schema<unknown>;
  }
}

const root = createRootRoute({ component: App, notFoundComponent: Lost, errorComponent: PageFailed });

type Page = {
  title: string;
  scoped?: boolean;
  team?: ByTeam;
  permission?: string;
  roles?: readonly Role[];
  whole?: boolean;
  public?: boolean;
};

/** page is one row of the table below: an address, what it may say, what it shows. Its code is loaded when it is opened. */
const page = <P extends string, S extends Record<string, unknown>>(
  path: P,
  schema: Schema<S>,
  component: RouteComponent,
  data: Page,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: schema as (raw: Record<string, unknown>) => S,
    component,
    // Beside the root's: what fails in a page leaves the shell around it.
    errorComponent: PageFailed,
    staticData: { ...data, search: schema as Schema<unknown> },
  });

/** code is a page's, which waits for a server that is away; after an upgrade its old parts are gone: the page is loaded anew. */
const code = <M extends Record<string, unknown>>(load: () => Promise<M>, name: keyof M & string) =>
  lazyRouteComponent(() => part(load), name) as RouteComponent;

const routes = [
  page(
    "/",
    schemas.dashboardSearch,
    code(() => import("./dashboard/DashboardPage"), "DashboardPage"),
    { title: "Dashboard", scoped: true, team: "servers", permission: "metrics:read" },
  ),
  page(
    "/alerts",
    schemas.alertsSearch,
    code(() => import("./alerts/AlertsPage"), "AlertsPage"),
    { title: "Alerts", scoped: true, team: "owner", permission: "alerts:read" },
  ),
  page(
    "/alerts/$alertId",
    schemas.alertSearch,
    code(() => import("./alerts/AlertPage"), "AlertPage"),
    { title: "Alert", permission: "alerts:read" },
  ),
  page(
    "/watch-rules",
    schemas.nothing,
    code(() => import("./watch/WatchRulesPage"), "WatchRulesPage"),
    { title: "Watch rules", permission: "metrics:read" },
  ),
  page(
    "/watch-rules/$watchRule",
    schemas.nothing,
    code(() => import("./watch/WatchRulePage"), "WatchRulePage"),
    { title: "Watch rule", permission: "metrics:read" },
  ),
  page(
    "/maintenance-windows",
    schemas.nothing,
    code(() => import("./maintenance/WindowsPage"), "WindowsPage"),
    { title: "Maintenance windows", permission: "alerts:read" },
  ),
  page(
    "/objectives",
    schemas.objectivesSearch,
    code(() => import("./objectives/ObjectivesPage"), "ObjectivesPage"),
    { title: "Objectives", permission: "metrics:read" },
  ),
  page(
    "/activity",
    schemas.activitySearch,
    code(() => import("./activity/ActivityPage"), "ActivityPage"),
    { title: "Activity", scoped: true, team: "servers", permission: "metrics:read" },
  ),
  page(
    "/statements",
    schemas.statementsSearch,
    code(() => import("./statements/StatementsPage"), "StatementsPage"),
    { title: "Statements", scoped: true, team: "servers", permission: "metrics:read" },
  ),
  page(
    "/statements/$statementId",
    schemas.statementSearch,
    code(() => import("./statements/StatementPage"), "StatementPage"),
    { title: "Statement", scoped: true, permission: "metrics:read" },
  ),
  page(
    "/blocking",
    schemas.blockingSearch,
    code(() => import("./blocking/BlockingPage"), "BlockingPage"),
    { title: "Blocking", scoped: true, team: "servers", permission: "metrics:read" },
  ),
  page(
    "/blocking/$episodeId",
    schemas.episodeSearch,
    code(() => import("./blocking/EpisodePage"), "EpisodePage"),
    { title: "Blocking", permission: "metrics:read" },
  ),
  page(
    "/reports",
    schemas.catalogSearch,
    code(() => import("./reports/CatalogPage"), "CatalogPage"),
    { title: "Reports", permission: "reports:read" },
  ),
  page(
    "/reports/view",
    schemas.requestSearch,
    code(() => import("./reports/RequestPage"), "RequestPage"),
    { title: "Request a report", permission: "reports:create" },
  ),
  page(
    "/reports/preview/$card",
    schemas.previewSearch,
    code(() => import("./reports/PreviewPage"), "PreviewPage"),
    { title: "Preview", permission: "reports:read" },
  ),
  page(
    "/reports/history",
    schemas.historySearch,
    code(() => import("./reports/HistoryPage"), "HistoryPage"),
    { title: "Report history", permission: "reports:read" },
  ),
  page(
    "/reports/verify",
    schemas.nothing,
    code(() => import("./reports/VerifyPage"), "VerifyPage"),
    { title: "Verify a file", permission: "reports:read" },
  ),
  page(
    "/reports/$reportId",
    schemas.nothing,
    code(() => import("./reports/ReportPage"), "ReportPage"),
    { title: "Report", permission: "reports:read" },
  ),
  page(
    "/schedules",
    schemas.schedulesSearch,
    code(() => import("./schedules/SchedulesPage"), "SchedulesPage"),
    { title: "Schedules", permission: "reports:read" },
  ),
  page(
    "/schedules/new",
    schemas.newScheduleSearch,
    code(() => import("./schedules/NewSchedulePage"), "NewSchedulePage"),
    { title: "New schedule", permission: "reports:create" },
  ),
  page(
    "/schedules/$scheduleId",
    schemas.scheduleSearch,
    code(() => import("./schedules/SchedulePage"), "SchedulePage"),
    { title: "Schedule", permission: "reports:read" },
  ),
  page(
    "/exports",
    schemas.exportsSearch,
    code(() => import("./reports/ExportsPage"), "ExportsPage"),
    { title: "Downloads" },
  ),
  page(
    "/instances",
    schemas.instancesSearch,
    code(() => import("./instances/InstancesPage"), "InstancesPage"),
    { title: "Instances", team: "owner", permission: "metrics:read" },
  ),
  page(
    "/instances/new",
    schemas.nothing,
    code(() => import("./instances/AddInstancePage"), "AddInstancePage"),
    { title: "Add an instance", permission: "admin" },
  ),
  page(
    "/instances/connect",
    schemas.connectSearch,
    code(() => import("./instances/ConnectPage"), "ConnectPage"),
    { title: "Connect an agent", permission: "admin" },
  ),
  page(
    "/instances/$instanceId",
    schemas.instanceSearch,
    code(() => import("./instances/InstancePage"), "InstancePage"),
    { title: "Instance", permission: "metrics:read" },
  ),
  page(
    "/findings",
    schemas.findingsSearch,
    code(() => import("./findings/FindingsPage"), "FindingsPage"),
    { title: "Findings", team: "owner", permission: "reports:download", roles: readers },
  ),
  page(
    "/findings/$findingId",
    schemas.nothing,
    code(() => import("./findings/FindingPage"), "FindingPage"),
    { title: "Finding", permission: "reports:download", roles: readers },
  ),
  page(
    "/checks",
    schemas.checksSearch,
    code(() => import("./findings/ChecksPage"), "ChecksPage"),
    { title: "Checks", permission: "metrics:read" },
  ),
  page(
    "/checks/$checkId",
    schemas.nothing,
    code(() => import("./findings/CheckPage"), "CheckPage"),
    { title: "Check", permission: "metrics:read" },
  ),
  page(
    "/exceptions",
    schemas.exceptionsSearch,
    code(() => import("./settings/ExceptionsPage"), "ExceptionsPage"),
    { title: "Exceptions", permission: "reports:read" },
  ),
  page(
    "/settings/members",
    schemas.membersSearch,
    code(() => import("./settings/MembersPage"), "MembersPage"),
    { title: "Members" },
  ),
  page(
    "/settings/tokens",
    schemas.nothing,
    code(() => import("./settings/TokensPage"), "TokensPage"),
    { title: "Tokens" },
  ),
  page(
    "/settings/assistants",
    schemas.nothing,
    code(() => import("./settings/AssistantsPage"), "AssistantsPage"),
    { title: "AI assistants" },
  ),
  page(
    "/settings/organization",
    schemas.nothing,
    code(() => import("./settings/OrganizationPage"), "OrganizationPage"),
    { title: "Organization" },
  ),
  page(
    "/settings/account",
    schemas.nothing,
    code(() => import("./settings/AccountPage"), "AccountPage"),
    { title: "Your account" },
  ),
  page(
    "/teams",
    schemas.nothing,
    code(() => import("./teams/TeamsPage"), "TeamsPage"),
    { title: "Teams" },
  ),
  page(
    "/notifications/rules",
    schemas.nothing,
    code(() => import("./notify/RulesPage"), "RulesPage"),
    { title: "Notification rules", permission: "admin" },
  ),
  page(
    "/notifications/rules/new",
    schemas.nothing,
    code(() => import("./notify/RulePages"), "NewRulePage"),
    { title: "New notification rule", permission: "admin" },
  ),
  page(
    "/notifications/rules/$ruleId",
    schemas.nothing,
    code(() => import("./notify/RulePages"), "RulePage"),
    { title: "Notification rule", permission: "admin" },
  ),
  page(
    "/notifications/channels",
    schemas.nothing,
    code(() => import("./notify/ChannelsPage"), "ChannelsPage"),
    { title: "Notification channels", permission: "admin" },
  ),
  page(
    "/notifications/deliveries",
    schemas.deliveriesSearch,
    code(() => import("./notify/DeliveriesPage"), "DeliveriesPage"),
    { title: "Deliveries", permission: "audit:read", whole: true },
  ),
  page(
    "/notifications/deliveries/$deliveryId",
    schemas.nothing,
    code(() => import("./notify/DeliveryPage"), "DeliveryPage"),
    { title: "Delivery", permission: "audit:read", whole: true },
  ),
  page(
    "/audit",
    schemas.auditSearch,
    code(() => import("./audit/AuditPage"), "AuditPage"),
    { title: "Audit", permission: "audit:read" },
  ),
  page(
    "/ops/projections",
    schemas.nothing,
    code(() => import("./ops/ProjectionsPage"), "ProjectionsPage"),
    { title: "Projections", permission: "ops:read" },
  ),
  page(
    "/ops/jobs",
    schemas.nothing,
    code(() => import("./ops/JobsPage"), "JobsPage"),
    { title: "Job queue", permission: "ops:read" },
  ),
  page(
    "/ops/senders",
    schemas.nothing,
    code(() => import("./ops/SendersPage"), "SendersPage"),
    { title: "Senders", permission: "ops:read" },
  ),
  page(
    "/ops/dead-letters",
    schemas.nothing,
    code(() => import("./ops/DeadLettersPage"), "DeadLettersPage"),
    { title: "Dead letters", permission: "admin" },
  ),
  page(
    "/ops/outbox",
    schemas.outboxSearch,
    code(() => import("./ops/OutboxPage"), "OutboxPage"),
    { title: "Outbox", permission: "admin" },
  ),
  page(
    "/setup",
    schemas.nothing,
    code(() => import("./access/SetupPage"), "SetupPage"),
    { title: "Set up", public: true },
  ),
  page(
    "/invitation",
    schemas.nothing,
    code(() => import("./access/InvitationPage"), "InvitationPage"),
    { title: "Invitation", public: true },
  ),
  page(
    "/addresses/confirm",
    schemas.nothing,
    code(() => import("./access/AddressPages"), "ConfirmAddressPage"),
    { title: "Alerts by e-mail", public: true },
  ),
  page(
    "/addresses/leave",
    schemas.nothing,
    code(() => import("./access/AddressPages"), "LeaveAddressPage"),
    { title: "Stop alerts by e-mail", public: true },
  ),
] as const;

/** Where people look for the sign-in, which stands in the place of any page: whoever is signed in goes on to the dashboard. */
const signIns = ["/login", "/signin", "/sign-in"].map((path) =>
  createRoute({
    getParentRoute: () => root,
    path,
    beforeLoad: () => {
      throw redirect({ to: "/", replace: true });
    },
  }),
);

export const router = createRouter({
  routeTree: root.addChildren([...routes, ...signIns]),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  // The shell is there while the page's code is on its way, and stays when it fails.
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});
