// `mailstead server name`: shows and chooses the name of the mail server and the address of the console.

import { chooseServerName } from '../../api/operator/server-name.ts'
import { readChosen } from '../../config/chosen-settings.ts'
import { auditCredential } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'

export const serverName: Command = {
  words: 'server name',
  summary: 'Choose the name of the mail server, for the next start; without one, show it.',
  options: {
    set: { value: 'name', says: 'name of the mail server, such as mail.example.com' },
    origin: { value: 'url', says: 'address of the console, such as https://mail.example.com' },
  },
  async run(call) {
    const app = await call.open()
    const { config } = app
    const name = call.text('set')
    if (name !== undefined) {
      await chooseServerName(app, name, call.text('origin'))
      await auditCredential(app, serverName.words, { teamId: null, target: { type: 'setting', id: null, label: name } })
    }
    const chosen = readChosen(config.DATA_DIR)
    const data = {
      mail_host: config.MAIL_HOSTS[0]!,
      next_mail_host: chosen.MAIL_HOSTS?.[0] ?? null,
      app_origin: config.APP_ORIGIN,
      next_app_origin: chosen.APP_ORIGIN ?? null,
    }
    const next = data.next_mail_host === null || data.next_mail_host === data.mail_host ? null : data.next_mail_host
    const lines = [`The mail server is ${data.mail_host}, the console ${data.app_origin}.`]
    if (next !== null) lines.push(`After the next start it is ${next}. Restart Mailstead.`)
    return { data, lines }
  },
}
