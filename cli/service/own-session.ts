import type { ServiceConfig } from '#config/config.ts';
import { createHttpTransport, type HttpRequest, type HttpResult } from '#upstream/client/http.ts';
import type { SharedToken, TokenStore } from '#upstream/client/session.ts';
import { openService, type Service } from '#upstream/service.ts';

// Device names have 255 characters at most.
const MOST_OF_A_NAME = 200;

/** A service may keep one token for each device; this login must not end that of running processes. */
export function openOwnSession(
  config: ServiceConfig,
  command: string,
  { deadlineMs, now = Date.now }: { readonly deadlineMs: number; readonly now?: () => number },
): Service {
  const deviceName = `${config.deviceName.slice(0, MOST_OF_A_NAME)}-${command}`;
  return openService({ ...config, deviceName, deadlineMs, tokens: new OwnToken(), now });
}

/** A request outside the client's session. Never throws, and returns as soon as the answer is there. */
export async function askOnce(
  to: { readonly origin: string; readonly proxy?: string | undefined },
  request: HttpRequest,
): Promise<HttpResult> {
  const transport = createHttpTransport(to);
  const result = await transport.send({
    ...request,
    headers: { 'user-agent': 'reseller-fulfilment', ...request.headers },
  });
  void transport.close();
  return result;
}

/** The command works without the database. */
export class OwnToken implements TokenStore {
  #token: SharedToken | undefined;

  async read(): ReturnType<TokenStore['read']> {
    const token = this.#token;
    return await Promise.resolve(token === undefined ? undefined : { version: token.version, token });
  }

  async replace(replacedVersion: number | undefined, token: Omit<SharedToken, 'version'>): Promise<number | undefined> {
    const version = (replacedVersion ?? 0) + 1;
    this.#token = { ...token, version };
    return await Promise.resolve(version);
  }
}

/** A clause: without its full stop. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
