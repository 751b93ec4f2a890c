// Which sending accounts carry the messages of a mailbox: all of the team, some, or those of some groups.

import { takeList } from '../../api/client.ts'
import type { MailboxAdmin } from '../../api/types.ts'
import { useQuery } from '../../live/query.ts'
import { useRecordForm } from '../../live/record-form.ts'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Section } from '../../parts/page.tsx'
import { ErrorCard, SaveTrouble } from '../../parts/quiet.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'
import { useMailboxSave } from './mailbox-save.ts'

type Scope = MailboxAdmin['send_scope']

const TYPES = ['all', 'providers', 'group'] as const
const SHOWN = 100

interface Choice {
  type: Scope['type']
  ids: readonly string[]
}

const choiceOf = (scope: Scope): Choice => ({
  type: scope.type,
  ids: scope.provider_public_ids ?? scope.group_public_ids ?? [],
})

const fieldsOf = ({ send_scope: scope }: MailboxAdmin) => ({ scope: choiceOf(scope) })

function scopeOf(type: Scope['type'], ids: string[]): Scope {
  if (type === 'providers') return { type, provider_public_ids: ids }
  return type === 'group' ? { type, group_public_ids: ids } : { type }
}

export function SendScope({ mailbox, tag }: { mailbox: MailboxAdmin; tag: string }) {
  const form = useRecordForm(fieldsOf(mailbox))
  const { type, ids } = form.fields.scope
  const named = useNamed(type)
  const body = { send_scope: scopeOf(type, [...ids]) }
  const save = useMailboxSave(form, { value: mailbox, tag }, fieldsOf, body)
  const setIds = (ids: readonly string[]) => form.set({ scope: { type, ids } })
  const toggle = (id: string, isOn: boolean) => setIds(isOn ? [...ids, id] : ids.filter((one) => one !== id))
  return (
    <Section title={words.sendScope} note={words.sendScopeNote}>
      <fieldset class="stack">
        {TYPES.map((one) => (
          <Check
            key={one}
            group="send-scope"
            label={words.sendScopes[one]}
            isOn={type === one}
            onChange={() => {
              const present = choiceOf(mailbox.send_scope)
              form.set({ scope: one === present.type ? present : { type: one, ids: [] } })
            }}
          />
        ))}
      </fieldset>
      {named.error !== null && <ErrorCard error={named.error} onRetry={named.refetch} />}
      {type !== 'all' && named.data?.length === 0 && <p class="soft">{words.noneToChoose[type]}</p>}
      {type !== 'all' && (named.data?.length ?? 0) > 0 && (
        <fieldset class="stack" aria-label={words.sendScopes[type]}>
          {named.data!.map(({ id, name }) => (
            <Check
              key={id}
              label={<Foreign>{name}</Foreign>}
              isOn={ids.includes(id)}
              onChange={(isOn) => toggle(id, isOn)}
            />
          ))}
        </fieldset>
      )}
      <SaveTrouble isOvertaken={form.isOvertaken} error={save.error} />
      <div class="row">
        <Button isBusy={save.isBusy} isOff={type !== 'all' && ids.length === 0} onPress={() => void save.run()}>
          {words.saveScope}
        </Button>
      </div>
    </Section>
  )
}

/** The accounts or groups to choose from; nothing is asked for all. */
function useNamed(type: Scope['type']) {
  const team = useTeam()
  const query = { params: { query: { limit: SHOWN } } }
  return useQuery(
    [team.id, type === 'group' ? 'groups' : 'providers', 'to-choose', type],
    async (): Promise<{ id: string; name: string }[]> => {
      const { items } =
        type === 'group'
          ? await takeList(team.api.GET('/delivery-groups', query))
          : await takeList(team.api.GET('/providers', query))
      return items.map(({ id, name }) => ({ id, name }))
    },
    { when: type !== 'all' },
  )
}
