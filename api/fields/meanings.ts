/** The values of a closed set with what each means, for its description. */
export function meaningsOf(values: Readonly<Record<string, string | { readonly meaning: string }>>): string {
  return Object.entries(values)
    .map(([name, said]) => `\`${name}\`: ${typeof said === 'string' ? said : said.meaning}`)
    .join(' ');
}
