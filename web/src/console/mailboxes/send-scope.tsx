// Which sending accounts carry the messages of a mailbox: all of the team, some, or those of some groups.

import { useState } from 'preact/hooks'
import { done, takeList, takeTagged } from '../../api/client.ts'
import type { MailboxAdmin } from '../../api/types.ts'
import { changeShown } from '../../live/change.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Section } from '../../parts/page.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'

type Scope = MailboxAdmin['send_scope']

const TYPES = ['all', 'providers', 'group'] as const
const SHOWN = 100

const idsOf = (scope: Scope): readonly string[] => scope.provider_public_ids ?? scope.group_public_ids ?? []

function scopeOf(type: Scope['type'], ids: string[]): Scope {
  if (type === 'providers') return { type, provider_public_ids: ids }
  return type === 'group' ? { type, group_public_ids: ids } : { type }
}

export function SendScope({ mailbox, tag }: { mailbox: MailboxAdmin; tag: string }) {
  const team = useTeam()
  const [type, setType] = useState(mailbox.send_scope.type)
  const [ids, setIds] = useState(idsOf(mailbox.send_scope))
  const named = useNamed(type)
  const save = useAction(async () => {
    const path = { mailbox_id: mailbox.id }
    const body = { send_scope: scopeOf(type, [...ids]) }
    await changeShown({
      seen: { value: mailbox, tag },
      shown: (one) => one.send_scope,
      read: () => takeTagged(team.api.GET('/mailboxes/{mailbox_id}', { params: { path } })),
      send: (version) =>
        done(team.api.PATCH('/mailboxes/{mailbox_id}', { params: { path, header: { 'If-Match': version } }, body })),
    })
    refresh(team.id, 'mailboxes')
    say(words.saved)
  })
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
              setType(one)
              setIds(one === mailbox.send_scope.type ? idsOf(mailbox.send_scope) : [])
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
      {save.error !== null && <ErrorCard error={save.error} />}
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
