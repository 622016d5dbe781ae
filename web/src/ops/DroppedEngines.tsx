/** DroppedEngines names the engines that tiles were answered without; nothing where there are none. */
export function DroppedEngines() {
  return null;
}
