// Delivery groups: which accounts take part, in which order or with which weight, and the share that results.

import { useState } from 'preact/hooks'
import { done, takeList } from '../../api/client.ts'
import type { DeliveryGroup, Provider } from '../../api/types.ts'
import { refresh, useAction, useMatching, usePages, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Check, SelectField, TextField } from '../../parts/field.tsx'
import { FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { sending as words } from '../../words/en/sending.ts'
import { useTeam } from '../team.ts'

type Strategy = DeliveryGroup['strategy']
type Step = { kind: 'edit'; group: DeliveryGroup | null } | { kind: 'delete'; group: DeliveryGroup }

const ACCOUNTS_SHOWN = 100

export function Groups() {
  const team = useTeam()
  const filters = useFilters()
  const [step, setStep] = useState<Step | null>(null)
  const pages = usePages([team.id, 'groups'], (cursor) =>
    takeList(team.api.GET('/delivery-groups', { params: { query: { cursor } } })),
  )
  const shown = useMatching(pages, filters.get('q') ?? '', ({ name, id }) => `${name} ${id}`)
  const accounts = useQuery([team.id, 'providers', { limit: ACCOUNTS_SHOWN }], () =>
    takeList(team.api.GET('/providers', { params: { query: { limit: ACCOUNTS_SHOWN } } })),
  )
  const all = accounts.data?.items ?? []
  const nameOf = (id: string) => all.find((one) => one.id === id)?.name ?? id
  const mayChange = team.may('provider.manage')
  const addButton = mayChange && (
    <Button kind="primary" icon="plus" onPress={() => setStep({ kind: 'edit', group: null })}>
      {words.addGroup}
    </Button>
  )
  return (
    <Section title={words.tabs.groups} note={words.groupsNote} actions={pages.items.length > 0 && addButton}>
      <FilterBar>
        <SearchField filters={filters} label={words.searchGroups} />
      </FilterBar>
      <List
        label={words.tabs.groups}
        pages={shown}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        columns={columnsOf(nameOf, mayChange ? setStep : null)}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (group) => <Detail group={group} />,
        }}
        empty={
          <Empty icon="split" title={words.noGroups} action={addButton}>
            {words.noGroupsText}
          </Empty>
        }
      />
      {step?.kind === 'edit' && <EditGroup group={step.group} accounts={all} onClose={() => setStep(null)} />}
      {step?.kind === 'delete' && <DeleteGroup group={step.group} onClose={() => setStep(null)} />}
    </Section>
  )
}

function Detail({ group }: { group: DeliveryGroup }) {
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.id}>
          <CodeValue text={group.id} what={words.id} />
        </Fact>
      </dl>
      <RawJson record={group} />
    </div>
  )
}

/** @param choose null when the role does not allow changes */
function columnsOf(nameOf: (id: string) => string, choose: ((step: Step) => void) | null): Column<DeliveryGroup>[] {
  return [
    { head: words.group, cell: ({ name }) => <span class="strong">{name}</span> },
    { head: words.strategy, cell: ({ strategy }) => words.strategies[strategy] },
    {
      head: words.members,
      cell: ({ members }) => members.map(({ provider_id }) => nameOf(provider_id)).join(', '),
      class: 'soft',
    },
    {
      head: '',
      class: 'number',
      cell: (group) =>
        choose !== null && (
          <span class="row">
            <IconButton
              icon="pencil"
              label={`${common.edit} ${group.name}`}
              onPress={() => choose({ kind: 'edit', group })}
            />
            <IconButton
              icon="trash-2"
              label={`${common.delete} ${group.name}`}
              onPress={() => choose({ kind: 'delete', group })}
            />
          </span>
        ),
    },
  ]
}

interface MemberForm {
  id: string
  weight: string
}

function EditGroup({
  group,
  accounts,
  onClose,
}: {
  group: DeliveryGroup | null
  accounts: readonly Provider[]
  onClose: () => void
}) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [name, setName] = useState(group?.name ?? '')
  const [strategy, setStrategy] = useState<Strategy>(group?.strategy ?? 'weighted')
  const [members, setMembers] = useState<MemberForm[]>(
    (group?.members ?? []).map(({ provider_id, weight }) => ({ id: provider_id, weight: String(weight ?? 1) })),
  )
  const save = useAction(async () => {
    const body = {
      name: name.trim(),
      strategy,
      members: members.map(({ id, weight }, position) => ({
        provider_id: id,
        position,
        weight: strategy === 'weighted' ? Number(weight) : null,
      })),
    }
    if (group === null) await done(team.api.POST('/delivery-groups', { params: { header: headerOf(body) }, body }))
    else await done(team.api.PATCH('/delivery-groups/{group_id}', { params: { path: { group_id: group.id } }, body }))
    refresh(team.id, 'groups')
    say(words.groupSaved)
    onClose()
  })
  const strategies = (Object.keys(words.strategies) as Strategy[]).map((value) => ({
    value,
    label: words.strategies[value],
  }))
  const foot = <FormFoot verb={common.save} action={save} isOff={members.length === 0} onClose={onClose} />
  const error = save.error?.fieldMessage('name')
  return (
    <Dialog
      title={group === null ? words.addGroup : words.editGroup(group.name)}
      isWide
      foot={foot}
      error={error === undefined ? save.error : null}
      onClose={onClose}
      onSubmit={() => void save.run()}
    >
      <div class="form-grid">
        <TextField label={words.name} value={name} onValue={setName} error={error} hasFocus />
        <SelectField label={words.strategy} value={strategy} choices={strategies} onValue={setStrategy} />
      </div>
      <MemberRows accounts={accounts} members={members} hasWeights={strategy === 'weighted'} set={setMembers} />
    </Dialog>
  )
}

interface MemberRowsProps {
  accounts: readonly Provider[]
  members: MemberForm[]
  hasWeights: boolean
  set: (members: MemberForm[]) => void
}

/** The accounts of the group in order, then the others to choose from. */
function MemberRows({ accounts, members, hasWeights, set }: MemberRowsProps) {
  const sum = members.reduce((total, { weight }) => total + (Number(weight) || 0), 0)
  const chosen = members.flatMap(({ id }) => accounts.filter((one) => one.id === id))
  const rest = accounts.filter(({ id }) => !members.some((member) => member.id === id))
  const moveUp = (index: number) =>
    set(
      members.map((_, at) => (at === index - 1 ? members[index]! : at === index ? members[index - 1]! : members[at]!)),
    )
  return (
    <fieldset class="stack">
      <legend class="label-line">{words.members}</legend>
      {[...chosen, ...rest].map((account) => {
        const index = members.findIndex(({ id }) => id === account.id)
        const member = members[index]
        return (
          <div key={account.id} class="row member-row">
            <Check
              label={account.name}
              isOn={member !== undefined}
              onChange={(isOn) =>
                set(
                  isOn ? [...members, { id: account.id, weight: '1' }] : members.filter(({ id }) => id !== account.id),
                )
              }
            />
            {member !== undefined && hasWeights && (
              <>
                <input
                  class="input weight-input"
                  inputMode="numeric"
                  aria-label={words.weightOf(account.name)}
                  value={member.weight}
                  onInput={({ currentTarget: { value } }) =>
                    set(members.map((one) => (one === member ? { ...one, weight: value } : one)))
                  }
                />
                <span class="soft share-figure">
                  {words.shareOf(String(sum === 0 ? 0 : Math.round(((Number(member.weight) || 0) / sum) * 100)))}
                </span>
              </>
            )}
            {index > 0 && <IconButton icon="chevron-up" label={words.up(account.name)} onPress={() => moveUp(index)} />}
          </div>
        )
      })}
    </fieldset>
  )
}

function DeleteGroup({ group, onClose }: { group: DeliveryGroup; onClose: () => void }) {
  const team = useTeam()
  const action = useAction(async () => {
    await done(team.api.DELETE('/delivery-groups/{group_id}', { params: { path: { group_id: group.id } } }))
    refresh(team.id, 'groups')
    say(words.groupDeleted(group.name))
    onClose()
  })
  return (
    <Confirm
      title={words.deleteGroupTitle(group.name)}
      verb={words.deleteGroup}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.deleteGroupText}
    </Confirm>
  )
}
