/** The TypeScript client for commands, with errors for the person at the terminal. */
import { type ApiOptions, apiAccess } from '#cli/api/api-access.ts';
import { ApiError, type ApiAccess } from '#cli/api/api-client.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { NoAnswerError, ProblemError, ResellerClient } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

/** A person waits: fewer retries than a shop makes. */
const RETRIES = 2;

/** Makes calls with the typed client. */
export type Caller = <Result>(call: (client: ResellerClient) => Promise<Result>) => Promise<Result>;

/**
 * Makes a caller for the installation of a command.
 *
 * @throws UserError when there is no key or no installation; the calls throw one for each refusal and lost answer.
 */
export function typedCaller(options: ApiOptions, environment: Environment): Caller {
  const access = apiAccess(options, environment);
  /** The call in progress, for error messages. */
  let request = '';
  const client = new ResellerClient({
    baseUrl: access.url,
    apiKey: access.key,
    retries: RETRIES,
    onResponse: ({ method, path }) => (request = `${method} ${path}`),
  });
  return async (call) => {
    try {
      return await call(client);
    } catch (error) {
      throw userError(error, request, access) ?? error;
    }
  };
}

function userError(error: unknown, request: string, access: ApiAccess): UserError | undefined {
  if (error instanceof ProblemError)
    return new ApiError(request, error.status, JSON.stringify(error.problem), access, { cause: error });
  if (error instanceof NoAnswerError) return noAnswerFrom(access.url, error);
  return undefined;
}

/** The error when the API cannot be reached, or something else answers. */
function noAnswerFrom(api: string, cause: NoAnswerError): UserError {
  const message = cause.status === undefined ? `The API at ${api} does not answer.` : `${cause.message}.`;
  return new UserError(
    message,
    'Start it with `npm start`. If it runs elsewhere, give the data folder with --data, or the address with --api.',
    { cause },
  );
}
