import type { Connection } from '@temporalio/client';
import { failure, type Finding, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { GRPC_STATUS, grpcStatus } from '#temporal/connection.ts';
import { checkNamespace as lookAtNamespace, NamespaceSetUpError } from '#temporal/set-up.ts';

export type NamespaceFindings = Readonly<Record<'namespace' | 'search_attributes', Finding>>;

/** Checks that our namespace exists and has the search attributes that workflows set. Changes nothing. */
export async function checkNamespace(connection: Connection, namespace: string): Promise<NamespaceFindings> {
  try {
    const { exists, missingSearchAttributes: missing } = await lookAtNamespace(connection, namespace);
    if (!exists) {
      const advice =
        'The worker creates it at its start if it is permitted to. Otherwise create it, or set TEMPORAL_NAMESPACE.';
      return {
        namespace: warning(`${namespace} does not exist`, advice),
        search_attributes: notChecked(`there is no namespace ${namespace}`),
      };
    }
    return { namespace: ok(namespace), search_attributes: ofSearchAttributes(missing) };
  } catch (error) {
    if (error instanceof NamespaceSetUpError) {
      const end = error.message.indexOf('. ') + 1;
      const conflict = failure(error.message.slice(0, end - 1), error.message.slice(end + 1));
      return { namespace: ok(namespace), search_attributes: conflict };
    }
    const status = grpcStatus(error);
    if (status !== GRPC_STATUS.permissionDenied && status !== GRPC_STATUS.unauthenticated) throw error;
    return {
      namespace: failure(
        `no permission to read ${namespace}`,
        'Check TEMPORAL_API_KEY and that it may use the namespace.',
      ),
      search_attributes: notChecked(`no permission to read ${namespace}`),
    };
  }
}

function ofSearchAttributes(missing: readonly string[]): Finding {
  if (missing.length === 0) return ok('all exist, with the right types');
  const advice =
    'The worker adds them at its start if it is permitted to. Otherwise its error lists each with its type.';
  return warning(`missing: ${missing.join(', ')}`, advice);
}
