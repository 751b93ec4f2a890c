// `mailstead certificate`, `certificate renew`: certificates that are obtained by ACME.

import { isoTime } from '../../base/clock.ts'
import type { CertificateStatus } from '../../certificates/certificates.ts'
import { auditCredential } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'
import { listOutput } from '../frame/limit.ts'

export const certificateList: Command = {
  words: 'certificate list',
  summary: 'List the certificates that are obtained by ACME, with the state of each and why it waits.',
  async run(call) {
    const { certificates } = await call.open()
    const rows = certificates.list().map(present)
    const none = certificates.isOn
      ? 'No name can get a certificate: set MAIL_HOSTS to the public name of this machine.'
      : 'Certificates are not obtained: set ACME to on.'
    return listOutput(rows, false, {
      none,
      head: ['Name', 'Names', 'State', 'Valid until', 'Renewal', 'Why it waits'],
      cells: (row) => [
        row.name,
        row.names.slice(1).join(' '),
        row.state,
        dayOf(row.valid_until),
        dayOf(row.renewal_at),
        row.reason ?? '',
      ],
    })
  },
}

export const certificateRenew: Command = {
  words: 'certificate renew',
  summary: 'Order a new version of a certificate now; the appliance, if it runs, begins within seconds.',
  operands: ['name'],
  options: {
    'new-key': { says: 'with another key; a TLSA record of the present one has to be replaced first' },
    revoke: { says: 'its key is known to others: also revoke the present version, when the new one is in use' },
  },
  async run(call) {
    const name = call.operands[0]!.toLowerCase()
    const app = await call.open()
    const options = { newKey: call.has('new-key'), revoke: call.has('revoke') }
    const status = await app.certificates.renew(name, options)
    const target = { type: 'setting', id: null, label: name } as const
    await auditCredential(app, certificateRenew.words, { teamId: null, target })
    return { data: present(status), lines: [`${name} is ordered again. See mailstead certificate list.`] }
  },
}

function present({ name, names, kind, state, reason, dueAt, lookAt, failures, served }: CertificateStatus) {
  return {
    ...{ name, names, kind, state },
    valid_until: served === null ? null : isoTime(served.notAfter),
    renewal_at: dueAt === null ? null : isoTime(dueAt),
    next_step_at: isoTime(lookAt),
    ...{ failures, reason },
  }
}

function dayOf(time: string | null): string {
  return time?.slice(0, 10) ?? ''
}
