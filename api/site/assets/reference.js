// Shows the reference. Nothing is sent to other hosts.
void (async () => {
  const here = new URL('.', document.baseURI);
  // Below the prefix of a proxy, if there is one.
  const base = new URL('..', here).href.replace(/\/$/, '');

  function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  let examples;
  const readExamples = () => (examples ??= fetch('assets/examples.json').then((answer) => answer.json()));

  /** Replaces the example id in the path of a read by the newest id of the same kind, if there is one. */
  async function withRealId(request, examples) {
    if (request.method !== 'GET') return request;
    const url = new URL(request.url);
    const part = url.pathname.split('/').find((each) => Object.hasOwn(examples, each));
    if (part === undefined) return request;
    const list = await fetch(`${base}${examples[part]}?limit=1`, { headers: request.headers });
    const newest = list.ok ? (await list.json()).data[0]?.id : undefined;
    if (newest === undefined) return request;
    url.pathname = url.pathname.replace(part, newest);
    return new Request(url, request);
  }

  const described = await (await fetch('assets/openapi.json')).json();
  const KEY = 'Idempotency-Key';

  /** Gives a call a key and a reference that were never sent: its form shows what it sends, and buys anew. */
  function renew(call) {
    const suffix = newKey().slice(0, 6);
    const renewed = (text) =>
      text.replaceAll(/(\bexternal_\w+_id"?: ?(["']))(.*?)(?:\.[0-9a-f]{6})?\2/g, `$1$3.${suffix}$2`);
    call.parameters = call.parameters.map((each) => (each.name === KEY ? { ...each, example: newKey() } : each));
    const media = call.requestBody?.content['application/json'];
    if (media?.example !== undefined) media.example = JSON.parse(renewed(JSON.stringify(media.example)));
    for (const sample of call['x-codeSamples'] ?? []) sample.source = renewed(sample.source);
  }

  /** Keeps what the reader typed into a form that was sent, but for its key and reference. */
  function renewSent(url, body) {
    const sent = new URL(url).pathname.slice(new URL(base).pathname.replace(/\/$/, '').length);
    for (const [path, { post: call }] of Object.entries(described.paths)) {
      const ids = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(sent);
      if (ids === null || call === undefined) continue;
      for (const each of call.parameters) if (each.in === 'path') each.example = ids.groups[each.name];
      if (body !== '') call.requestBody.content['application/json'].example = JSON.parse(body);
      renew(call);
    }
    reference.updateConfiguration(configuration());
  }

  async function send(input, init) {
    const request = await withRealId(new Request(input, init), await readExamples());
    const sent = request.clone();
    const answer = await fetch(request);
    try {
      if (answer.ok && sent.headers.has(KEY)) renewSent(sent.url, await sent.text());
    } catch {
      // The answer may be that of a purchase: it is shown in any case, and the form keeps its key.
    }
    return answer;
  }

  for (const call of Object.values(described.paths).flatMap((each) => Object.values(each))) {
    const shared = described.components.parameters.IdempotencyKey;
    call.parameters = call.parameters?.map((each) => (each.$ref?.endsWith('/IdempotencyKey') ? shared : each));
    if (call.parameters?.some(({ name }) => name === KEY)) renew(call);
  }

  const configuration = () => ({
    content: structuredClone(described),
    servers: [{ url: base, description: 'This installation' }],
    customFetch: send,
    authentication: { preferredSecurityScheme: 'apiKey' },
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    operationTitleSource: 'summary',
    documentDownloadType: 'json',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hiddenClients: {
      c: true,
      clojure: true,
      csharp: true,
      dart: true,
      fsharp: true,
      go: true,
      http: true,
      java: true,
      js: true,
      julia: true,
      kotlin: true,
      node: true,
      objc: true,
      ocaml: true,
      php: true,
      powershell: true,
      r: true,
      ruby: true,
      rust: true,
      swift: true,
      shell: ['httpie', 'wget'],
      python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
    },
    metaData: { title: 'API reference' },
  });
  const reference = window.Scalar.createApiReference('#reference', configuration());
})();
