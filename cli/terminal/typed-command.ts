/**
 * A command of ours in a sentence, as it can be typed in a clone of the project.
 *
 * @param data the folder that this command was given with --data; that one needs it as well.
 */
export function typed(command: string, data: string | undefined): string {
  return `\`npx reseller ${command}${data === undefined ? '' : ` --data ${data}`}\``;
}
