// `mailstead domain rotate-key`: creates the next DKIM key of a domain and prints its DNS record.

import { presentDomain } from '../../api/schemas/domain.ts'
import { isCname } from '../../directory/domains/dns-records.ts'
import { isReserved } from '../../directory/names/domain-name.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const domainRotateKey: Command = {
  words: 'domain rotate-key',
  summary: 'Create the next DKIM key of a domain; it is used for signing once its DNS record is found.',
  operands: ['domain'],
  options: { ...TEAM_OPTION, ed25519: { says: 'create an Ed25519 key, which signs in addition to the RSA key' } },
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id, name } = chooseDomain(app, team.id, call.operands[0]!)
    const domain = await app.directory.domains.rotateKey(team.id, id, call.has('ed25519') ? 'ed25519' : 'rsa')
    // Amazon's keys stand behind ours.
    const record = domain.records.dkim.findLast((one) => !isCname(one))!
    return {
      data: presentDomain(domain),
      lines: isReserved(name)
        ? [`${name} signs with ${record.name} from now on, unless its DNS says that there is no such key.`]
        : [
            `${name} has a new key. Put this record into its DNS:`,
            '',
            ...table([[`  ${record.name}`, 'TXT', record.value]]),
            '',
            'Until it is found, mail is signed with the previous keys; keep their records.',
            `Mailstead checks once a day. To check now: mailstead domain verify ${name}`,
          ],
    }
  },
}
