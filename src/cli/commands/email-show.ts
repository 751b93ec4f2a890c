// `mailstead email show`: a sent message with all its recipients and their timelines.

import { presentRecipient, presentSentMessage } from '../../api/schemas/email.ts'
import { notFound } from '../../base/errors.ts'
import { clean } from '../../mime/one-line.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const TEXT_SHOWN = 200

export const emailShow: Command = {
  words: 'email show',
  summary: 'Show a sent message with what happened to it at each recipient.',
  operands: ['message (eml_…)'],
  options: TEAM_OPTION,
  async run(call) {
    const { directory, outbound } = await call.open()
    const found = outbound.log.sentMessages.get(chooseTeam(directory, call.text('team')).id, call.operands[0]!)
    if (found === undefined) throw notFound('message')
    const data = { ...presentSentMessage(found), recipients: found.recipients.map(presentRecipient) }
    const rows = data.recipients.flatMap(({ email, status, status_reason: reason, timeline }) => [
      [`  ${email}`, status, clean(reason ?? '', TEXT_SHOWN)],
      ...timeline.map(({ at, type, detail }) => [`    ${at}`, type, clean(detail ?? '', TEXT_SHOWN)]),
    ])
    const subject = clean(data.subject, TEXT_SHOWN)
    return { data, lines: [`${data.id}  ${data.status}  ${data.from.email}  ${subject}`, ...table(rows)] }
  },
}
