// Where an appliance that runs is found: what a person opens, and what programs speak to.

import { CLIENT_LISTENERS, type ClientListener } from '../../config/client-listeners.ts'
import type { Config } from '../../config/config.ts'
import { sendBase } from '../../config/origins.ts'
import { PROGRAM_VERSION } from '../../config/version.ts'
import type { CommandOutput } from '../frame/command.ts'
import { table } from '../frame/table.ts'

/** @param ports the ones that were bound; 0 for listeners that are switched off */
export function addressOutput(config: Config, ports: { smtp: number } & Record<ClientListener, number>): CommandOutput {
  const app = config.APP_ORIGIN
  const send = sendBase(config)
  return {
    data: { app, send, smtp_port: ports.smtp },
    // One text, so that the log does not come between its lines.
    lines: [lines(app, send, ports).join('\n')],
  }
}

function lines(app: string, send: string, ports: Parameters<typeof addressOutput>[1]): string[] {
  const served = CLIENT_LISTENERS.filter((name) => ports[name] > 0).map((name) => `${name} ${ports[name]}`)
  return [
    '',
    `Mailstead ${PROGRAM_VERSION} runs:`,
    '',
    ...table([
      ['  documentation', `${app}/docs`],
      ['  console', `${app}/console  (to sign in: npx mailstead login-link <email>)`],
      ['  API', `${app}/api/v1`],
      ['  sending API', `${send}/api/v1  (also at the address of the API)`],
      ['  SMTP', `port ${ports.smtp}`],
      ...(served.length === 0 ? [] : [['  mail programs', `ports ${served.join(', ')}`]]),
    ]),
    '',
    'Ctrl-C ends it. To check it: npx mailstead doctor',
    '',
  ]
}
