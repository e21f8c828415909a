import { checkApproval, checkClock, checkLogin, checkToken, checkWallet } from '#cli/doctor/checks/account.ts';
import {
  type Records,
  checkDatabase,
  checkEncryptionKeys,
  checkInstallation,
  checkMigrations,
  openDatabase,
  readRecords,
} from '#cli/doctor/checks/database.ts';
import {
  checkCapabilities,
  checkContract,
  checkDeliveries,
  checkFirstPurchaseCheck,
} from '#cli/doctor/checks/offer.ts';
import { checkNamespace, checkTemporal, checkWorkerVersion, checkWorkflowTasks } from '#cli/doctor/checks/temporal.ts';
import {
  checkWebhookAddress,
  checkWebhookArrival,
  checkWebhookSecret,
  newestSecret,
} from '#cli/doctor/checks/webhooks.ts';
import { type CheckName, type Finding, type Findings, failure, notChecked, ok } from '#cli/doctor/finding.ts';
import { openOwnSession } from '#cli/service/own-session.ts';
import { reasonOf } from '#cli/terminal/user-error.ts';
import { PARTS, readApiConfig, readCodecServerConfig, readWorkerConfig, type ServiceConfig } from '#config/config.ts';
import { ConfigurationError, EXIT_CONFIGURATION, problemText } from '#config/configuration-error.ts';
import type { Environment } from '#config/environment.ts';
import { counted } from '#domain/text.ts';
import type { Service } from '#upstream/service.ts';

export interface ExamineOptions {
  readonly now?: () => number;
  readonly deadlineMs?: number;
  readonly data?: string;
}

/** Far above a slow answer, and short enough for a person who waits. */
const DEADLINE_MS = 10_000;

const CONFIGURATION = notChecked('the configuration of this part cannot be used');

const DATABASE = ['database', 'migrations', 'installation', 'encryption_keys'] as const;
const TEMPORAL = ['temporal', 'namespace', 'search_attributes', 'worker_version', 'workflow_tasks'] as const;
const ACCOUNT = ['login', 'token', 'approval', 'wallet'] as const;
const SERVICE = [...ACCOUNT, 'clock', 'contract', 'capabilities', 'first_purchase_check', 'deliveries'] as const;

type Part<Names extends readonly CheckName[]> = Pick<Findings, Names[number]>;

function every<Names extends readonly CheckName[]>(names: Names, finding: Finding): Part<Names> {
  return Object.fromEntries(names.map((name) => [name, finding])) as Record<Names[number], Finding>;
}

/** Buys nothing, and changes nothing but a `ping` in our own inbox. Never throws. */
export async function examine(environment: Environment, options: ExamineOptions = {}): Promise<Findings> {
  const { now = Date.now, deadlineMs = DEADLINE_MS, data } = options;
  const settings = readSettings(environment);
  const database = examineDatabase(settings, now);
  const limits = {
    now,
    deadlineMs,
    data,
    headerPrefix: settings.webhook?.headerPrefix,
    webhookToleranceMs: settings.webhookToleranceMs,
  };
  const [{ findings }, temporal, service, webhook] = await Promise.all([
    database,
    examineTemporal(settings, deadlineMs),
    examineService(settings.service, limits, database),
    examineWebhook(settings, limits, database),
  ]);
  return { configuration: checkConfiguration(settings.problems), ...findings, ...temporal, ...service, ...webhook };
}

/** @returns 78 when the configuration cannot be used. */
export function exitCodeOf(findings: Findings): number {
  if (findings.configuration.status === 'failure') return EXIT_CONFIGURATION;
  return Object.values(findings).some(({ status }) => status === 'failure') ? 1 : 0;
}

interface DatabaseExamination {
  readonly findings: Part<typeof DATABASE>;
  readonly records?: Records;
}

async function examineDatabase(
  { database: config, service, encryptionKeys }: DoctorSettings,
  now: () => number,
): Promise<DatabaseExamination> {
  if (config === undefined) return { findings: every(DATABASE, CONFIGURATION) };
  const database = openDatabase(config);
  try {
    const reached = await settled(() => checkDatabase(database, config));
    if (reached.status === 'failure') {
      return { findings: { ...every(DATABASE, notChecked('the database cannot be used')), database: reached } };
    }
    const migrations = await settled(() => checkMigrations(database));
    if (migrations.status === 'failure') {
      const rest = every(DATABASE, notChecked('the schema is not current'));
      return { findings: { ...rest, database: reached, migrations } };
    }
    const encryption_keys = await settled(() => checkEncryptionKeys(database, encryptionKeys));
    const usable = { database: reached, migrations, encryption_keys };
    if (service === undefined) return { findings: { ...usable, installation: CONFIGURATION } };
    const installation = await settled(() => checkInstallation(database, service));
    const findings = { ...usable, installation };
    // Records of another service or environment say nothing about this one.
    if (installation.status === 'failure') return { findings };
    const records = await readRecords(database, service, encryptionKeys, now).catch(() => undefined);
    return records === undefined ? { findings } : { findings, records };
  } finally {
    await database.close();
  }
}

async function examineTemporal(
  { temporal: config, workers }: DoctorSettings,
  timeoutMs: number,
): Promise<Part<typeof TEMPORAL>> {
  if (config === undefined) return every(TEMPORAL, CONFIGURATION);
  const unless = (reason: string) => every(TEMPORAL, notChecked(reason));
  const { finding: temporal, connection } = await checkTemporal(config, timeoutMs).catch((error: unknown) => ({
    finding: unexpected(error),
    connection: undefined,
  }));
  if (connection === undefined) return { ...unless('Temporal cannot be used'), temporal };
  try {
    const looked = await connection.withDeadline(Date.now() + timeoutMs, async () => {
      const found = await checkNamespace(connection, config.namespace);
      if (found.namespace.status !== 'ok')
        return { ...unless(`the namespace ${config.namespace} cannot be used`), ...found };
      const workflow_tasks = await settled(() => checkWorkflowTasks(connection, config.namespace));
      if (workers === undefined) return { ...found, workflow_tasks, worker_version: CONFIGURATION };
      const worker_version = await settled(() => checkWorkerVersion(connection, config.namespace, workers.version));
      return { ...found, workflow_tasks, worker_version };
    });
    return { ...looked, temporal };
  } catch (error) {
    return { ...unless('the namespace could not be looked at'), temporal, namespace: unexpected(error) };
  } finally {
    await connection.close();
  }
}

interface Limits extends Required<Pick<ExamineOptions, 'now' | 'deadlineMs'>> {
  readonly data: string | undefined;
  readonly headerPrefix: string | undefined;
  readonly webhookToleranceMs: number | undefined;
}

async function examineService(
  config: ServiceConfig | undefined,
  limits: Limits,
  database: Promise<DatabaseExamination>,
): Promise<Part<typeof SERVICE>> {
  if (config === undefined) return every(SERVICE, CONFIGURATION);
  const service = openOwnSession(config, 'doctor', limits);
  try {
    const [account, clock] = await Promise.all([
      examineAccount(service, config, limits, database),
      settled(() => checkClock(config, limits)),
    ]);
    // After the login, so that a service that asks for a token here is not logged in to twice.
    const contract = await settled(() => checkContract(service.client, config.capabilities, limits));
    const { records } = await database;
    return {
      ...account,
      clock,
      contract,
      capabilities: checkCapabilities(config, records, limits.now()),
      first_purchase_check: checkFirstPurchaseCheck(config, records),
      deliveries: checkDeliveries(records),
    };
  } finally {
    await service.close();
  }
}

async function examineAccount(
  { client, session }: Service,
  config: ServiceConfig,
  { deadlineMs }: Limits,
  database: Promise<DatabaseExamination>,
): Promise<Part<typeof ACCOUNT>> {
  const token = await session.token(deadlineMs);
  const login = checkLogin(token, config);
  const held = (await database).records?.heldUnapproved ?? 0;
  if (!token.ok) {
    const failed = notChecked('the login failed');
    const known = token.failure === 'not_approved' || config.mode === 'sandbox';
    const approval = known ? await checkApproval(client, config, { refused: token, held }) : failed;
    return { login, token: failed, approval, wallet: failed };
  }
  const wallet = await client.getWallet();
  const refused = wallet.ok || wallet.kind !== 'failure' ? undefined : wallet;
  const approval = await settled(() => checkApproval(client, config, { refused, held }));
  return { login, token: checkToken(token.token, config), approval, wallet: checkWallet(wallet) };
}

async function examineWebhook(
  { webhook, service }: DoctorSettings,
  limits: Limits,
  database: Promise<DatabaseExamination>,
): Promise<Pick<Findings, 'webhook_secret' | 'webhook_address' | 'webhook_arrival'>> {
  const { records } = await database;
  const webhook_arrival = checkWebhookArrival(records);
  if (webhook === undefined) return { webhook_secret: CONFIGURATION, webhook_address: CONFIGURATION, webhook_arrival };
  const stored = records?.webhookSecrets;
  const secret = newestSecret(webhook.secrets, stored, limits.now());
  return {
    webhook_secret: checkWebhookSecret(webhook.secrets, stored, limits.now(), limits.data),
    webhook_address: await settled(() => checkWebhookAddress(webhook, { secret, mode: service?.mode, ...limits })),
    webhook_arrival,
  };
}

/** An unexpected error of one check must not hide the other findings. */
async function settled(check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    return unexpected(error);
  }
}

function unexpected(error: unknown): Finding {
  return failure(`the check ended with an error: ${reasonOf(error)}`, 'Fix its cause, or report it as a bug.');
}

function checkConfiguration(problems: readonly string[]): Finding {
  if (problems.length === 0) return ok('API, worker and codec server can use it');
  return failure(
    `${counted(problems.length, 'problem')}: ${problems.join('; ')}`,
    'docs/configuration.md describes each variable.',
  );
}

type DoctorSettings = ReturnType<typeof readSettings>;

/** A part with a problem is undefined. */
function readSettings(environment: Environment) {
  const problems = new Set<string>();
  const read = <Part>(reader: (environment: Environment) => Part): Part | undefined => {
    try {
      return reader(environment);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      for (const problem of error.problems) problems.add(problemText(problem));
      return undefined;
    }
  };
  const api = read(readApiConfig);
  for (const wholeProcess of [readWorkerConfig, readCodecServerConfig]) read<unknown>(wholeProcess);
  return {
    database: read(PARTS.database),
    encryptionKeys: read(PARTS.encryptionKeys),
    temporal: read(PARTS.temporal),
    /** An object of its own, because workers need no version. */
    workers: read((from) => ({ version: PARTS.deployment(from) })),
    service: read(PARTS.service),
    webhook: read((from) => ({
      url: PARTS.webhookUrl(from),
      headerPrefix: PARTS.headerPrefix(from),
      secrets: PARTS.webhookSecrets(from),
    })),
    webhookToleranceMs: api?.webhookToleranceMs,
    problems: [...problems],
  };
}
