/**
 * A command of ours for a text, as it can be typed in a clone of the project.
 *
 * @param data data folder that the running command got with --data; added to the text.
 */
export function typed(command: string, data: string | undefined): string {
  return `\`npx reseller ${command}${data === undefined ? '' : ` --data ${data}`}\``;
}
