// Ports for servers that a test starts, as internal/testing/porttest gives them to Go's tests: below those that the
// kernel gives to any listener or connection, and held by the UDP port that belongs to each until the process ends.
import { createSocket } from "node:dgram";
import { connect } from "node:net";

const first = 21_000;
const count = 11_000;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < count; tries++) {
    const port = first + Math.floor(Math.random() * count);
    if (await take(port)) return port;
  }
  throw new Error("no port is free for a test");
}

/** take says whether the port is ours from now on. Its mark is none of the ports that are given out. */
async function take(port: number): Promise<boolean> {
  const mark = createSocket("udp4");
  const marked = await new Promise<boolean>((resolve) => {
    mark.once("error", () => resolve(false));
    mark.bind({ port: port - count, address: "127.0.0.1", exclusive: true }, () => resolve(true));
  });
  if (!marked) return false;
  mark.unref(); // it is there as long as the process
  if (await isFree(port)) return true;
  mark.close();
  return false;
}

/** isFree asks whether anybody listens there, and does not listen: a program that starts meanwhile would hold the port. */
const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
