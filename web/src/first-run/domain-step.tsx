// The second step: the domain, and its records with live checks.

import { useState } from 'preact/hooks'
import { type Api, take } from '../api/client.ts'
import type { Domain } from '../api/types.ts'
import { useAction } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { DomainRecords, useDomainCheck } from '../panels/domain-records.tsx'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { common } from '../words/en/common.ts'
import { firstRun as words } from '../words/en/first-run.ts'

interface DomainStepProps {
  api: Api
  /** Null before it is added. */
  domain: Domain | null
  onMade: (domain: Domain) => void
  onDone: () => void
}

export function DomainStep({ api, domain, onMade, onDone }: DomainStepProps) {
  const headerOf = useRequestKey()
  const [name, setName] = useState('')
  const add = useAction(async () => {
    const body = { domain: name.trim() }
    onMade(await take(api.POST('/domains', { params: { header: headerOf(body) }, body })))
  })
  const error = add.error?.fieldMessage('domain')
  return (
    <>
      <div>
        <h1>{words.domainTitle}</h1>
        <p class="lead">{words.domainLead}</p>
      </div>
      {domain === null ? (
        <Form class="stack loose" onSubmit={() => void add.run()}>
          <TextField
            label={words.domain}
            hint={words.domainHint}
            isLarge
            inputMode="url"
            value={name}
            onValue={setName}
            error={error}
            hasFocus
          />
          {add.error !== null && error === undefined && <ErrorCard error={add.error} />}
          <div class="row">
            <Button kind="primary" size="form" submits isBusy={add.isBusy}>
              {words.addDomain}
            </Button>
          </div>
        </Form>
      ) : (
        <Watched api={api} domain={domain} onChange={onMade} onDone={onDone} />
      )}
    </>
  )
}

interface WatchedProps {
  api: Api
  domain: Domain
  onChange: (domain: Domain) => void
  onDone: () => void
}

function Watched({ api, domain, onChange, onDone }: WatchedProps) {
  const path = { domain_id: domain.id }
  const readAgain = useAction(async () => onChange(await take(api.GET('/domains/{domain_id}', { params: { path } }))))
  const live = useDomainCheck(api, domain, true, () => void readAgain.run())
  const isVerified = domain.verification_status === 'verified'
  return (
    <>
      <DomainRecords domain={domain} live={live} />
      <div class="row wide wrap">
        <Button kind="primary" size="form" isOff={!isVerified} why={words.notVerified} onPress={onDone}>
          {common.continue}
        </Button>
        <p class="soft">{isVerified ? words.later : words.notVerified}</p>
      </div>
    </>
  )
}
