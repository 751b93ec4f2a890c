// Starts the house, waits for a signal, closes it.

import { routes } from './api/routes.ts'
import { webhooksTold } from './api/schemas/events.ts'
import { ProductError } from './base/errors.ts'
import { closeAll, type Service } from './base/lifecycle.ts'
import type { Config } from './config/config.ts'
import { type Context, type Overrides, openContext } from './context.ts'
import { openHttp } from './http/app.ts'
import { checkPorts, type ListenAddress, PortError, splitHostPort } from './http/ports.ts'
import { openInbound } from './inbound/listener.ts'
import { openHeartbeat } from './jobs/heartbeat.ts'
import { openProviderWatch } from './jobs/provider-watch.ts'
import { openProvisioning } from './jobs/provisioning.ts'
import { openClockwork } from './jobs/scheduler.ts'
import { openSupervisor } from './jobs/supervisor.ts'
import { openWorker, WORKERS } from './jobs/workers.ts'
import { webRoutes } from './pages/routes.ts'

/** The house while it is open. */
export interface House {
  app: Context
  /** TCP ports that are listened on. */
  ports: { smtp: number; app: number; send: number; operator: number }
  /** Resolves when nothing is due: checks of accounts, and what workers on this thread have to do. */
  settle(): Promise<void>
  /** Stops every part in the reverse order of its start: no new work, finish what was begun, write back. */
  close(): Promise<void>
}

/** How the house is opened, beside its settings. */
export interface HouseOptions extends Overrides {
  /** Whether the workers have threads of their own, as they should, or run on this one and its clock. */
  workers?: 'threads' | 'here'
  /** Checks every reply against its schema before it leaves. */
  checkReplies?: boolean
  /** Runs when the data folder is open and before anybody is let in. */
  prepare?(app: Context): Promise<void>
}

/**
 * Opens the house on its data folder.
 * @throws ProductError with one sentence when a setting, the folder or a port is not usable
 */
export async function openHouse(config: Config, options: HouseOptions = {}): Promise<House> {
  // Nothing is set up, and no key printed, by a start that cannot succeed.
  await checkPorts(listenAddresses(config)).catch((error: unknown) => {
    throw explain(error)
  })
  const app = await openContext(config, { ...options, alone: true })
  const inbound = openInbound(app)
  const http = openHttp(app, [...routes, ...webRoutes], {
    checkReplies: options.checkReplies ?? false,
    told: webhooksTold,
  })
  const watch = openProviderWatch(app)
  const provisioning = openProvisioning(app)
  const here = options.workers === 'here' ? WORKERS.map((name) => openWorker(app, name)) : []
  const workers: Service[] = options.workers === 'here' ? here : [openSupervisor(app)]
  const heartbeat = openHeartbeat(app)
  const services: Service[] = [
    heartbeat,
    openClockwork(app),
    watch,
    provisioning,
    ...workers,
    http,
    app.following,
    inbound,
  ]
  const started: Service[] = []
  const close = () =>
    closeAll([
      ...started.toReversed().map((service) => () => service.stop()),
      () => app.people.settle(),
      () => app.close(),
    ])
  try {
    await options.prepare?.(app)
    for (const service of services) {
      await service.start()
      started.push(service)
    }
  } catch (error) {
    await close()
    throw explain(error)
  }
  const settle = async () => {
    await heartbeat.settle()
    await app.people.settle()
    await watch.settle()
    await provisioning.settle()
    for (const worker of here) await worker.settle()
  }
  return { app, ports: { smtp: inbound.port, ...http.ports }, settle, close }
}

function listenAddresses(config: Config): ListenAddress[] {
  const { HTTP_BIND: host } = config
  return [
    { setting: 'SMTP_PORT', host: config.SMTP_BIND, port: config.SMTP_PORT },
    { setting: 'HTTP_PORT', host, port: config.HTTP_PORT },
    { setting: 'SEND_PORT', host, port: config.SEND_PORT },
    { setting: 'OPERATOR_BIND', ...splitHostPort(config.OPERATOR_BIND) },
  ]
}

// What an operator can do something about gets a sentence; the rest stays what it is.
function explain(error: unknown): unknown {
  const isPort = error instanceof PortError
  const { code, address, port } = (isPort ? error.cause : error) as { code?: string; address?: string; port?: number }
  const setting = isPort ? error.setting : 'SMTP_PORT, HTTP_PORT, SEND_PORT or OPERATOR_BIND'
  const place = `${address} port ${port}`
  const why = new Map([
    [
      'EADDRINUSE',
      `${place} is in use by another program, or by a Mailstead that runs already: stop it, or set ${setting} to another one.`,
    ],
    ['EACCES', `This user may not listen on ${place}: take a port above 1023, or let the container map it.`],
    ['EADDRNOTAVAIL', `${address} is no address of this machine: see SMTP_BIND, HTTP_BIND and OPERATOR_BIND.`],
    ['ENOTFOUND', `The host of ${setting} has no address: see SMTP_BIND, HTTP_BIND and OPERATOR_BIND.`],
  ]).get(code ?? '')
  if (why !== undefined) return new ProductError('service_unavailable', why, { cause: error })
  return isPort
    ? new ProductError('service_unavailable', `${setting} cannot be used: ${error.message}.`, { cause: error })
    : error
}

/**
 * Runs the house until SIGINT or SIGTERM; a second signal ends the process at once.
 * @throws ProductError when the disk fails: what is not on it is not promised, and nothing more can be
 * @param prepare see {@link HouseOptions}
 * @param opened runs when everything listens
 */
export async function serve(
  config: Config,
  prepare?: HouseOptions['prepare'],
  opened?: (house: House) => void,
): Promise<void> {
  const house = await openHouse(config, { prepare })
  const { log } = house.app
  const { DATA_DIR: data, APP_ORIGIN: app, SEND_ORIGIN: send } = config
  // Before anybody can read that it is open: a signal from then on closes it in order.
  const signalled = new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name))
  })
  log.info({ event: 'appliance.started', ports: house.ports, data, origins: { app, send } }, 'Mailstead is open')
  opened?.(house)
  const { db, blobsDb } = house.app
  // Whoever supervises the process starts it again; going on would only refuse mail.
  const broken = Promise.race([db.broken, blobsDb.broken]).then((cause) => ({ cause }))
  const end = await Promise.race([signalled, broken])
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))
  log.info(typeof end === 'string' ? { signal: end } : { err: end.cause }, 'closing')
  if (typeof end !== 'string') {
    // What is closed wants to write as well, and cannot.
    await house.close().catch((error: unknown) => log.error({ err: error }, 'closing was not clean'))
    const sentence = `The disk did not keep what was written to ${config.DATA_DIR}: look at it before Mailstead is started again.`
    throw new ProductError('service_unavailable', sentence, { cause: end.cause })
  }
  await house.close()
  log.info('closed')
}
