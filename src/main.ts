// Starts the appliance, waits for a signal and closes it.

import { routes } from './api/routes.ts'
import { webhookEvents } from './api/schemas/events.ts'
import { ProductError } from './base/errors.ts'
import { collectWhenIdle } from './base/idle-memory.ts'
import { closeAll, type Service, STOP_LIMIT_MS, stopTogether } from './base/lifecycle.ts'
import { collectUnderPressure } from './base/memory-pressure.ts'
import { type ClientListener, LISTENER_PORTS } from './config/client-listeners.ts'
import type { Config } from './config/config.ts'
import { type Context, type Overrides, openContext } from './context.ts'
import { openHttp } from './http/app.ts'
import { checkPorts, type ListenAddress, PortError, splitHostPort } from './http/ports.ts'
import { openImap } from './imap/listener.ts'
import { openInbound } from './inbound/listener.ts'
import { openCertificateWorker } from './jobs/certificate-worker.ts'
import { openHeartbeat } from './jobs/heartbeat.ts'
import { threadJobs } from './jobs/jobs.ts'
import { provedListeners } from './jobs/proved-listeners.ts'
import { openProviderWatch } from './jobs/provider-watch.ts'
import { openScheduler } from './jobs/scheduler.ts'
import { openSupervisor } from './jobs/supervisor.ts'
import { openUnfinishedCopies } from './jobs/unfinished-copies.ts'
import { openWorker, WORKERS } from './jobs/workers.ts'
import { openManageSieve } from './managesieve/listener.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { meRoutes } from './me/routes.ts'
import { errorPage } from './pages/html.ts'
import { webRoutes } from './pages/routes.ts'
import { openSubmission } from './submission/listener.ts'

/** A running appliance. */
export interface Appliance {
  app: Context
  /** TCP ports that are listened on. */
  ports: Record<'smtp' | 'app' | 'send' | 'operator' | 'https' | ClientListener, number>
  /** Resolves when no work is due: account checks and the workers on this thread. */
  settle(): Promise<void>
  /** Stops the services: closes their ports, finishes or ends running work, checkpoints the databases. */
  close(): Promise<void>
}

/** How the appliance is opened, beside its settings. */
export interface ApplianceOptions extends Overrides {
  /** Whether workers run in threads of their own (default) or on this thread and its clock, for tests. */
  workers?: 'threads' | 'here'
  /** Checks every reply against its schema before it leaves. */
  checkReplies?: boolean
  /** Runs when the data folder is open, before the listeners start. */
  prepare?(app: Context): Promise<void>
}

/**
 * Opens the appliance on its data folder.
 * @throws ProductError when a setting, the data folder or a port is not usable
 */
export async function openAppliance(config: Config, options: ApplianceOptions = {}): Promise<Appliance> {
  // Checked first, so that a start that cannot succeed sets up nothing and prints no key.
  await checkPorts(listenAddresses(config)).catch((error: unknown) => {
    throw explainStartError(error)
  })
  const app = await openContext(config, { ...options, alone: true })
  const inbound = openInbound(app)
  const imap = openImap(app)
  const submission = openSubmission(app)
  const managesieve = openManageSieve(app)
  const http = openHttp(app, [...routes, ...meRoutes, ...webRoutes, ...mcpRoutes], {
    checkReplies: options.checkReplies ?? false,
    webhooks: webhookEvents,
    errorPage,
  })
  const watch = openProviderWatch(app)
  const here = options.workers === 'here' ? await Promise.all(WORKERS.map((name) => openWorker(app, name))) : []
  const workers: Service[] = options.workers === 'here' ? here : [openSupervisor(app)]
  const heartbeat = openHeartbeat(app)
  const ownJobs = openScheduler(app, threadJobs)
  const unfinished = openUnfinishedCopies(app)
  const mail = [inbound, imap, submission, managesieve]
  const ports = () => ({ ...inbound.ports, ...http.ports, ...imap.ports, ...submission.ports, ...managesieve.ports })
  const certificates = openCertificateWorker(app, () => provedListeners(config, ports()))
  const services: Service[] = [
    unfinished,
    heartbeat,
    ownJobs,
    watch,
    ...workers,
    http,
    app.following,
    app.teamChanges,
    app.certificate,
    ...mail,
    certificates,
  ]
  const started: Service[] = []
  // All at the same time: one after the other, each could take until its own deadline, with the ports of the others still open.
  const close = () => closeAll([() => stopTogether(started), () => app.people.settle(), () => app.close()])
  try {
    await options.prepare?.(app)
    for (const service of services) {
      await service.start()
      started.push(service)
    }
  } catch (error) {
    await close()
    throw explainStartError(error)
  }
  const settle = async () => {
    for (const part of [unfinished, heartbeat, ownJobs, app.people, watch, certificates, ...here]) await part.settle()
  }
  return { app, ports: ports(), settle, close }
}

function listenAddresses(config: Config): ListenAddress[] {
  const { HTTP_BIND: host } = config
  return [
    { setting: 'SMTP_PORT', host: config.SMTP_BIND, port: config.SMTP_PORT },
    { setting: 'HTTP_PORT', host, port: config.HTTP_PORT },
    { setting: 'SEND_PORT', host, port: config.SEND_PORT },
    { setting: 'HTTPS_PORT', host, port: config.HTTPS_PORT },
    { setting: 'OPERATOR_BIND', ...splitHostPort(config.OPERATOR_BIND) },
    ...clientAddresses(config),
  ]
}

function clientAddresses(config: Config): ListenAddress[] {
  const { CLIENT_PROTOCOLS: served, CLIENT_BIND: host } = config
  return served.map((protocol) => {
    const setting = LISTENER_PORTS[protocol]
    return { setting, host, port: config[setting] }
  })
}

// Errors an operator can correct get an explanation; others are passed on unchanged.
function explainStartError(error: unknown): unknown {
  const isPort = error instanceof PortError
  const { code, address, port } = (isPort ? error.cause : error) as { code?: string; address?: string; port?: number }
  const setting = isPort ? error.setting : 'SMTP_PORT, HTTP_PORT, SEND_PORT or OPERATOR_BIND'
  const endpoint = `${address} port ${port}`
  const why = new Map([
    [
      'EADDRINUSE',
      `${endpoint} is in use by another program or another Mailstead. Stop it, or set ${setting} to another one.`,
    ],
    ['EACCES', `This user may not listen on ${endpoint}: use a port above 1023, or map it in the container.`],
    ['EADDRNOTAVAIL', `${address} is not an address of this machine: check SMTP_BIND, HTTP_BIND and OPERATOR_BIND.`],
    ['ENOTFOUND', `The host of ${setting} does not resolve: check SMTP_BIND, HTTP_BIND and OPERATOR_BIND.`],
  ]).get(code ?? '')
  if (why !== undefined) return new ProductError('service_unavailable', why, { cause: error })
  return isPort
    ? new ProductError('service_unavailable', `${setting} cannot be used: ${error.message}.`, { cause: error })
    : error
}

/**
 * Runs the appliance until SIGINT or SIGTERM; a second signal exits the process immediately.
 * @throws ProductError when the disk fails: nothing more can be stored durably
 * @param prepare see {@link ApplianceOptions}
 * @param opened runs when all listeners are open
 */
export async function serve(
  config: Config,
  prepare?: ApplianceOptions['prepare'],
  opened?: (appliance: Appliance) => void,
): Promise<void> {
  const appliance = await openAppliance(config, { prepare })
  collectWhenIdle()
  collectUnderPressure()
  const { log } = appliance.app
  const { DATA_DIR: data, APP_ORIGIN: app, SEND_ORIGIN: send } = config
  // Before anybody can read that it is open: a signal from then on closes it in order.
  const signalled = new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name))
  })
  log.info({ event: 'appliance.started', ports: appliance.ports, data, origins: { app, send } }, 'Mailstead is open')
  opened?.(appliance)
  const { db, blobsDb } = appliance.app
  // The process supervisor restarts it; continuing would only reject messages.
  const broken = Promise.race([db.broken, blobsDb.broken]).then((cause) => ({ cause }))
  const end = await Promise.race([signalled, broken])
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))
  const reason = typeof end === 'string' ? { signal: end } : { err: end.cause }
  log.info({ event: 'appliance.stopping', ...reason }, 'Mailstead is stopping')
  // Everything that was answered is durable, and what is under way is taken up or taken back at the next start.
  const late = setTimeout(() => {
    log.error({ event: 'appliance.stop_late', ms: STOP_LIMIT_MS }, 'Mailstead did not stop in time and ends at once')
    process.exit(1)
  }, STOP_LIMIT_MS)
  if (typeof end !== 'string') {
    // Closing writes as well, and fails on the same disk.
    await appliance
      .close()
      .catch((error: unknown) =>
        log.error({ event: 'appliance.stop_failed', err: error }, 'Mailstead did not stop cleanly'),
      )
    const sentence = `Writes to ${config.DATA_DIR} failed. Check the disk before you start Mailstead again.`
    throw new ProductError('service_unavailable', sentence, { cause: end.cause })
  }
  await appliance.close()
  clearTimeout(late)
  log.info({ event: 'appliance.stopped' }, 'Mailstead stopped')
}
