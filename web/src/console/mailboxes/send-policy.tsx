// What programs of a mailbox may send without a person.

import { take } from '../../api/client.ts'
import type { SendPolicy } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { showAnswer, useAction, useQuery } from '../../live/query.ts'
import { useRecordForm } from '../../live/record-form.ts'
import { Button } from '../../parts/button.tsx'
import { Check, SelectField, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import { ErrorCard, SaveTrouble, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { sendPolicies as words } from '../../words/en/send-policies.ts'
import { useTeam } from '../team.ts'

const APPROVALS = ['none', 'first_contact', 'after_reading_strangers', 'always'] as const
const LINES = 3

const fieldsOf = (policy: SendPolicy) => ({
  approval: policy.send_approval,
  allow: policy.allow_to.join('\n'),
  block: policy.block_to.join('\n'),
  repliesOnly: policy.replies_only,
})
const entriesOf = (text: string) => text.split(/[\s,;]+/).filter(Boolean)

export function SendPolicySection({ mailboxId }: { mailboxId: string }) {
  const team = useTeam()
  const params = { path: { mailbox_id: mailboxId } }
  const key = [team.id, 'send-policy', mailboxId]
  const { data, error, refetch } = useQuery(key, () =>
    take(team.api.GET('/mailboxes/{mailbox_id}/send-policy', { params })),
  )
  return (
    <Section title={words.title} note={words.text}>
      {error !== null ? (
        <ErrorCard error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <Skeleton rows={3} />
      ) : (
        <PolicyForm policy={data} onSaved={(policy) => showAnswer(key, policy)} />
      )}
    </Section>
  )
}

function PolicyForm({ policy, onSaved }: { policy: SendPolicy; onSaved: (policy: SendPolicy) => void }) {
  const team = useTeam()
  const form = useRecordForm(fieldsOf(policy))
  const { approval, allow, block, repliesOnly } = form.fields
  const save = useAction(async () => {
    const { hourly_recipients, daily_recipients } = policy
    const body = {
      ...{ send_approval: approval, replies_only: repliesOnly, hourly_recipients, daily_recipients },
      ...{ allow_to: entriesOf(allow), block_to: entriesOf(block) },
    }
    const params = { path: { mailbox_id: policy.mailbox_id } }
    const saved = await take(team.api.PUT('/mailboxes/{mailbox_id}/send-policy', { params, body }))
    form.saved(fieldsOf(saved))
    onSaved(saved)
    say(words.saved)
  })
  const choices = APPROVALS.map((value) => ({ value, label: words.approvals[value] }))
  return (
    <div class="stack loose narrow-form">
      <SelectField
        label={words.approval}
        hint={words.hints[approval]}
        value={approval}
        choices={choices}
        onValue={(value) => form.set({ approval: value })}
      />
      <TextField
        label={words.allow}
        hint={words.allowHint}
        value={allow}
        onValue={(typed) => form.set({ allow: typed })}
        lines={LINES}
      />
      <TextField
        label={words.block}
        hint={words.blockHint}
        value={block}
        onValue={(typed) => form.set({ block: typed })}
        lines={LINES}
      />
      <Check label={words.repliesOnly} isOn={repliesOnly} onChange={(isOn) => form.set({ repliesOnly: isOn })} />
      {policy.tainted_until !== null && <p class="soft">{words.tainted(exact(policy.tainted_until))}</p>}
      <SaveTrouble isOvertaken={form.isOvertaken} error={save.error} />
      <div class="row">
        <Button isBusy={save.isBusy} isOff={!form.isChanged} onPress={() => void save.run()}>
          {words.save}
        </Button>
      </div>
    </div>
  )
}
