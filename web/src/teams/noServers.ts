/** noServers is what somebody with the role team reads who sees no server. */
export const noServers = {
  title: "Your teams own no servers",
  why: "You see the servers of the teams that you are in. An administrator adds you to a team, or changes the servers that a team has.",
};
