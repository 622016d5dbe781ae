/** About is what an entry's subject is, and so where its link leads; null is nothing that has a page. */
export type About =
  | "report"
  | "schedule"
  | "instance"
  | "alert"
  | "exception"
  | "finding"
  | "rule"
  | "channel"
  | "delivery"
  | null;

/** The types of the audit list in words, in the groups of the filter. A type that is not here is its own name. */
export const groups: { name: string; about: About; types: Record<string, string> }[] = [
  {
    name: "Sign-in",
    about: null,
    types: {
      signedIn: "Signed in",
      signInRefused: "Sign-in refused",
      signInThrottled: "Sign-in throttled",
      signedOut: "Signed out",
      sessionsRevoked: "Sessions ended",
      passwordChanged: "Password changed",
      passwordReset: "Password reset",
      identityLinked: "Identity provider linked",
      refused: "Request refused",
    },
  },
  {
    name: "Members and tokens",
    about: null,
    types: {
      memberInvited: "Member invited",
      memberJoined: "Member joined",
      memberChanged: "Member changed",
      memberErased: "Member erased",
      tokenMinted: "Token created",
      tokenRevoked: "Token revoked",
      tokenFirstUsed: "Token first used",
      assistantRead: "AI assistant read",
    },
  },
  {
    name: "Organization",
    about: null,
    types: {
      organizationCreated: "Organization created",
      organizationDeleted: "Organization deleted",
      watchRuleChanged: "Watch rule changed",
      organizationSettingsChanged: "Settings changed",
    },
  },
  {
    name: "Reports",
    about: "report",
    types: {
      queued: "Report requested",
      reused: "Report requested again",
      buildStarted: "Build started",
      buildResumed: "Build resumed",
      stepCompleted: "Build step completed",
      ready: "Report ready",
      failed: "Report failed",
      emailSent: "Report e-mailed",
      emailFailed: "E-mail failed",
      downloaded: "Report downloaded",
      expired: "Report file deleted",
      signed: "PDF signed",
      inputsErased: "Input data deleted",
    },
  },
  {
    name: "Schedules",
    about: "schedule",
    types: {
      scheduleCreated: "Schedule created",
      scheduleChanged: "Schedule changed",
      scheduleTakenOver: "Schedule taken over",
      scheduleRemoved: "Schedule removed",
      scheduleRequested: "Scheduled report requested",
      scheduleUnchanged: "Scheduled report unchanged",
      scheduleMissed: "Scheduled report missed",
      schedulePaused: "Schedule paused",
    },
  },
  {
    name: "Notification channels",
    about: "channel",
    types: {
      channelCreated: "Channel added",
      channelChanged: "Channel changed",
      channelRemoved: "Channel removed",
      channelTested: "Channel tested",
    },
  },
  {
    name: "Notification rules",
    about: "rule",
    types: {
      teamCreated: "Team created",
      teamChanged: "Team changed",
      teamRemoved: "Team removed",
      notificationRuleCreated: "Notification rule created",
      notificationRuleChanged: "Notification rule changed",
      notificationRuleRemoved: "Notification rule removed",
    },
  },
  {
    name: "Marks on charts",
    about: null,
    types: { markSet: "Mark set", markRemoved: "Mark removed" },
  },
  {
    name: "Maintenance windows",
    about: null,
    types: {
      maintenanceCreated: "Maintenance window announced",
      maintenanceChanged: "Maintenance window changed",
      maintenanceEnded: "Maintenance window ended",
      maintenanceRemoved: "Maintenance window removed",
    },
  },
  {
    name: "Objectives",
    about: null,
    types: { objectivesChanged: "Objectives changed" },
  },
  {
    name: "Deliveries",
    about: "delivery",
    types: { deliveryRetried: "Delivery retried" },
  },
  {
    name: "Exceptions",
    about: "exception",
    types: {
      exceptionRequested: "Exception requested",
      exceptionGranted: "Exception granted",
      exceptionRevoked: "Exception revoked",
    },
  },
  {
    name: "Findings",
    about: "finding",
    types: { findingAssigned: "Finding assigned", findingTicketed: "Ticket of a finding changed" },
  },
  {
    name: "Evidence",
    about: null,
    types: { evidenceMade: "Evidence made" },
  },
  {
    name: "Instances",
    about: "instance",
    types: {
      instanceRegistered: "Instance added",
      instanceChanged: "Instance changed",
      instanceActivated: "Instance activated",
      instanceDeactivated: "Instance deactivated",
      instanceRemoved: "Instance removed",
      instanceGrantsDeclined: "Grants declined",
      instanceTagged: "Instance tagged",
    },
  },
  {
    name: "Alerts",
    about: "alert",
    types: {
      alertAcknowledged: "Alert acknowledged",
      alertMuted: "Alert muted",
      alertMutedUntil: "Alert muted until a time",
      alertUnmuted: "Alert unmuted",
      alertResolved: "Alert resolved",
      alertNoted: "Note on an alert",
    },
  },
  {
    name: "Operations",
    about: null,
    types: {
      rebuildRequested: "Rebuild requested",
      deadLetterRetried: "Dead letter retried",
      deadLetterDropped: "Dead letter dropped",
      fileAltered: "Stored file is not the recorded one",
      eventsExported: "Events exported",
      keysRotated: "Keys rotated",
      keysRevoked: "Key revoked",
      unmarkedAccepted: "Unmarked events accepted",
      backupMade: "Backup made",
      backupRestored: "Backup restored",
    },
  },
];

const groupOf = (type: string) => groups.find((group) => Object.hasOwn(group.types, type));

/** typeInWords is an entry's type as people say it. */
export const typeInWords = (type: string): string => groupOf(type)?.types[type] ?? type;

/** aboutOf is what the subject of an entry of a type is. */
export const aboutOf = (type: string): About => groupOf(type)?.about ?? null;
