import type { DescribedApi, DescribedOperation, DescribedParameter } from '#scripts/api/api-document.ts';

const HEAD = `# All calls of the API, for the REST clients of VS Code (REST Client) and JetBrains.
# Generated from /openapi.json by \`npm run generate:api\`; manual changes are lost:
# set the variables in your environment, or in a copy.
#
# The key of a development environment is in .data/dev-api-key. An Idempotency-Key identifies one operation: in VS Code,
# \`{{$guid}}\` is a new one for each request; in JetBrains it is \`{{$uuid}}\`. Ids are examples: replace them.
`;

export function httpCollection(api: DescribedApi): string {
  const ids = variablesOf(api);
  const variables = [
    ['baseUrl', 'http://127.0.0.1:3000'],
    ['apiKey', 'rsk_test_…'],
    ['idempotencyKey', '{{$guid}}'],
    ...ids,
  ].map(([name, value]) => `@${name} = ${value}`);
  const groups = api.tags.map(({ name, description }) => {
    const operations = api.operations.filter(({ tag }) => tag === name);
    return [
      `# ${'='.repeat(100)}`,
      `# ${name}${description === undefined ? '' : `: ${description}`}`,
      '',
      ...operations.map((each) => requestOf(each, ids)),
    ].join('\n');
  });
  return [HEAD, variables.join('\n'), '', ...groups].join('\n');
}

function variablesOf(api: DescribedApi): ReadonlyMap<string, string> {
  const parameters = api.operations.flatMap((operation) => operation.parameters);
  return new Map(
    parameters.flatMap(({ in: where, schema }) => {
      const kind = schema['x-kind'];
      return where !== 'path' || kind === undefined || typeof schema.example !== 'string'
        ? []
        : [[kind, schema.example]];
    }),
  );
}

function requestOf(operation: DescribedOperation, ids: ReadonlyMap<string, string>): string {
  const { id, method, summary, parameters, body, authenticated } = operation;
  const inQuery = parameters.filter((each) => each.in === 'query');
  const required = inQuery
    .filter((each) => each.required)
    .map((each) => `${each.name}=${encodeURIComponent(exampleOf(each))}`);
  const optional = inQuery.filter((each) => !each.required).map(({ name }) => name);
  const headers = parameters.filter(
    (each) => each.in === 'header' && (each.required || each.name === 'Idempotency-Key'),
  );
  return [
    `### ${summary}`,
    `# @name ${id}`,
    ...(optional.length === 0 ? [] : [`# Also: ${optional.map((name) => `${name}=`).join(', ')}`]),
    `${method.toUpperCase()} {{baseUrl}}${pathOf(operation)}${required.length === 0 ? '' : `?${required.join('&')}`}`,
    ...(authenticated ? ['Authorization: Bearer {{apiKey}}'] : []),
    ...headers.map(
      (each) => `${each.name}: ${each.name === 'Idempotency-Key' ? '{{idempotencyKey}}' : exampleOf(each)}`,
    ),
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', '', withVariables(JSON.stringify(body.example ?? {}, undefined, 2), ids)]),
    '',
    '',
  ].join('\n');
}

function pathOf({ path, parameters }: DescribedOperation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const found = parameters.find((each) => each.in === 'path' && each.name === name);
    const kind = found?.schema['x-kind'];
    return kind === undefined ? encodeURIComponent(found === undefined ? name : exampleOf(found)) : `{{${kind}}}`;
  });
}

function exampleOf({ name, schema, example }: DescribedParameter): string {
  const given = schema.example ?? example;
  return typeof given === 'string' || typeof given === 'number' ? String(given) : name;
}

function withVariables(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replaceAll(/"(\w+)_id": "[a-z]{2,7}_[0-9A-HJKMNP-TV-Z]{26}"/g, (all, kind: string) =>
    ids.has(kind) ? `"${kind}_id": "{{${kind}}}"` : all,
  );
}
