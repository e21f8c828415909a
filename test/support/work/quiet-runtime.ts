/** Imported before a test starts a worker: what it logs is no more than warnings. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('WARN'), telemetryOptions: { logging: { filter: 'ERROR', forward: {} } } });
