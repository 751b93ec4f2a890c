// The DKIM keys of a domain: which sign, which wait for their record, and the next one.

import { useState } from 'preact/hooks'
import { done, takeList } from '../../api/client.ts'
import type { DkimKey, Domain } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import type { IconName } from '../../look/icons.ts'
import { shortName } from '../../panels/record-rows.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Check } from '../../parts/field.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { domains as words } from '../../words/en/domains.ts'
import { useTeam } from '../team.ts'

type Algorithm = DkimKey['algorithm']

const SIGNS: Readonly<Record<DkimKey['state'], { tone: Tone; icon?: IconName }>> = {
  waiting: { tone: 'warn', icon: 'clock' },
  signing: { tone: 'good' },
  missing: { tone: 'danger' },
  replaced: { tone: '', icon: 'circle' },
  removable: { tone: '', icon: 'ban' },
}

export function SigningKeys({ domain }: { domain: Domain }) {
  const team = useTeam()
  const [isAsking, setAsking] = useState(false)
  const path = { domain_id: domain.id }
  const query = useQuery([team.id, 'domains', domain.id, 'keys'], () =>
    takeList(team.api.GET('/domains/{domain_id}/dkim', { params: { path } })),
  )
  const nextButton = team.may('domain.create') && (
    <Button icon="refresh-cw" onPress={() => setAsking(true)}>
      {words.nextKey}
    </Button>
  )
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={3} />
  return (
    <Section title={words.tabs.keys} note={words.keysNote} actions={nextButton}>
      {query.data.items.length === 0 ? (
        <Empty icon="key-round" title={words.noKeys} />
      ) : (
        <Table
          label={words.tabs.keys}
          rows={query.data.items}
          columns={columnsOf(domain)}
          keyOf={({ selector }) => selector}
          isTall
          isNamed
        />
      )}
      {isAsking && <NextKey domain={domain} onClose={() => setAsking(false)} />}
    </Section>
  )
}

function columnsOf({ domain }: Domain): Column<DkimKey>[] {
  return [
    {
      head: words.selector,
      cell: ({ selector, algorithm }) => (
        <span class="two-lines">
          <span class="strong">{selector}</span>
          <span>{words.algorithms[algorithm]}</span>
        </span>
      ),
    },
    {
      head: words.state,
      cell: ({ state }) => <State {...SIGNS[state]}>{words.keyStates[state]}</State>,
    },
    {
      head: words.host,
      cell: ({ selector, name }) => <CodeValue text={shortName(name, domain)} what={words.recordOf(selector)} />,
    },
    {
      head: words.value,
      cell: ({ selector, value }) => <CodeValue text={value} what={`${words.recordOf(selector)}, ${words.value}`} />,
      class: 'value-cell',
    },
    { head: words.keyCreated, cell: ({ created_at }) => <Time at={created_at} />, class: 'number soft' },
  ]
}

function NextKey({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const team = useTeam()
  const [algorithm, setAlgorithm] = useState<Algorithm>('rsa2048')
  const rotate = useAction(async () => {
    const params = { path: { domain_id: domain.id } }
    await done(team.api.POST('/domains/{domain_id}/dkim/rotate', { params, body: { algorithm } }))
    refresh(team.id, 'domains')
    say(words.keyMade)
    onClose()
  })
  return (
    <Dialog
      title={words.nextKeyTitle}
      foot={<FormFoot verb={words.nextKey} action={rotate} onClose={onClose} />}
      error={rotate.error}
      onClose={onClose}
      onSubmit={() => void rotate.run()}
    >
      <p>{words.nextKeyText}</p>
      <fieldset class="stack">
        <legend class="label-line">{words.algorithm}</legend>
        {(Object.keys(words.algorithms) as Algorithm[]).map((name) => (
          <Check
            key={name}
            group="algorithm"
            label={words.algorithms[name]}
            note={words.algorithmNotes[name]}
            isOn={algorithm === name}
            onChange={() => setAlgorithm(name)}
          />
        ))}
      </fieldset>
    </Dialog>
  )
}
