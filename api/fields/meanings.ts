/** The values of a closed set with their meanings, for a description. */
export function meaningsOf(values: Readonly<Record<string, string | { readonly meaning: string }>>): string {
  return Object.entries(values)
    .map(([name, said]) => `\`${name}\`: ${typeof said === 'string' ? said : said.meaning}`)
    .join(' ');
}
