// Names of the types of the Operator API that pages use.

import type { components } from './schema-operator.d.ts'

type Schemas = components['schemas']
export type Backup = Schemas['Backup']
export type BackupPlan = Schemas['BackupPlan']
export type Certificate = Schemas['Certificate']
export type Health = Schemas['ApplianceHealth']
export type Finding = Health['findings'][number]
export type Machine = Schemas['Machine']
export type OperatorAgent = Schemas['OperatorAgent']
export type OperatorLimitRequest = Schemas['OperatorLimitRequest']
export type OperatorPerson = Schemas['OperatorPerson']
export type OperatorTeam = Schemas['OperatorTeam']
export type OwnRecord = Schemas['OwnRecord']
export type OwnRecordChecks = Schemas['OwnRecordChecks']
export type QueueEntry = Schemas['QueueEntry']
export type ServerName = Schemas['ServerName']
export type Setting = Schemas['Setting']
export type Transaction = Schemas['BillingTransaction']
