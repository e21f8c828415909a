// Shows the reference. Nothing is sent to other hosts.
(() => {
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
    const part = url.pathname.split('/').find((each) => Object.hasOwn(examples.lists, each));
    if (part === undefined) return request;
    const list = await fetch(`${base}${examples.lists[part]}?limit=1`, { headers: request.headers });
    const newest = list.ok ? (await list.json()).data[0]?.id : undefined;
    if (newest === undefined) return request;
    url.pathname = url.pathname.replace(part, newest);
    return new Request(url, request);
  }

  /** All readers would send the same example key: each request gets a new key, unless one is typed in. */
  function withNewKey(request, examples) {
    if (request.headers.get('Idempotency-Key') === examples.idempotencyKey)
      request.headers.set('Idempotency-Key', newKey());
    return request;
  }

  async function send(input, init) {
    const examples = await readExamples();
    return fetch(withNewKey(await withRealId(new Request(input, init), examples), examples));
  }

  window.Scalar.createApiReference('#reference', {
    url: 'assets/openapi.json',
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
})();
