// Declares a table once: from its columns come the SELECT list, the types of rows and records, and what an INSERT writes.

import { type Camel, camelCase, fromMember, objectMaker } from '../base/members.ts'
import { insertMany } from './many-rows.ts'
import type { Reader, Row, SqlValue, Tx } from './sql.ts'

type Kind = 'text' | 'integer' | 'real' | 'bytes' | 'flag' | 'time' | 'json'
/** `hidden`: read only where it is named. `optional`: may be left out of an insert. `assigned`: never inserted. */
type Mark = 'hidden' | 'optional' | 'assigned'
type Literal = string | number | boolean | null

interface Traits {
  kind: Kind
  isNullable: boolean
  isHidden: boolean
  isAssigned: boolean
  /** What an insert without a value writes: the DEFAULT of the column. */
  fallback: Literal
  /** Name of the member of records, in the form of columns; null: that of the column. */
  member: string | null
}

/** `Raw` is the value in the row, `Value` that in the record. */
export class Column<Raw, Value, M extends Mark = never, Member extends string = never> {
  declare readonly types: { raw: Raw; value: Value; mark: M; member: Member }
  readonly traits: Readonly<Traits>

  constructor(kind: Kind, traits: Partial<Traits> = {}) {
    const plain = { isNullable: false, isHidden: false, isAssigned: false, fallback: null, member: null }
    this.traits = { ...plain, ...traits, kind }
  }

  orNull(): Column<Raw | null, Value | null, M | 'optional', Member> {
    return this.#with({ isNullable: true })
  }

  /** The table has DEFAULT `fallback`. */
  or(fallback: Raw & Literal): Column<Raw, Value, M | 'optional', Member> {
    return this.#with({ fallback })
  }

  /** Not among the columns of the table that are read, unless it is named: secrets, words for the search, long texts. */
  hidden(): Column<Raw, Value, M | 'hidden', Member> {
    return this.#with({ isHidden: true })
  }

  /** Records have it under another name. */
  as<const N extends string>(member: N): Column<Raw, Value, M, N> {
    return this.#with({ member })
  }

  #with<C>(traits: Partial<Traits>): C {
    return new Column(this.traits.kind, { ...this.traits, ...traits }) as C
  }
}

/** The integer key that SQLite assigns. */
export const key = () => new Column<number, number, 'assigned'>('integer', { isAssigned: true })
export const text = <T extends string = string>() => new Column<T, T>('text')
export const integer = <T extends number = number>() => new Column<T, T>('integer')
export const real = () => new Column<number, number>('real')
export const bytes = () => new Column<Uint8Array, Uint8Array>('bytes')
export const flag = () => new Column<number, boolean>('flag')
/** ms since 1970-01-01 UTC. */
export const time = () => new Column<number, number>('time')
export const json = <T>() => new Column<string, T>('json')

type AnyColumn = Column<unknown, unknown, Mark, string>
type Columns = Readonly<Record<string, AnyColumn>>
type Types<C> = C extends AnyColumn ? C['types'] : never
type Named<C extends Columns> = keyof C & string
type MemberOf<C, K extends string> = Camel<[Types<C>['member']] extends [never] ? K : Types<C>['member']>
/** Names of the columns with a mark. */
type Marked<C extends Columns, M extends Mark> = {
  [K in Named<C>]: M extends Types<C[K]>['mark'] ? K : never
}[Named<C>]
type Shown<C extends Columns> = Exclude<Named<C>, Marked<C, 'hidden'>>
type Raws<C extends Columns, K extends Named<C>> = { [P in K]: Types<C[P]>['raw'] }
type Values<C extends Columns, K extends Named<C>> = { [P in K as MemberOf<C[P], P>]: Types<C[P]>['value'] }
type Written<C extends Columns> = Exclude<Named<C>, Marked<C, 'assigned'>>
type Inserted<C extends Columns> = Values<C, Exclude<Written<C>, Marked<C, 'optional'>>> & {
  [P in Written<C> & Marked<C, 'optional'> as MemberOf<C[P], P>]?: Types<C[P]>['value'] | undefined
}
type Changes<C extends Columns> = { [P in Written<C> as MemberOf<C[P], P>]?: Types<C[P]>['value'] | undefined }
type Flat<T> = { [K in keyof T]: T[K] }

/** A row of the selected columns, as SQLite returns it. */
export type RowOf<S> = S extends Selection<infer C, infer K> ? Flat<Raws<C, K>> : never
/** A record: members in camel case, flags as booleans, JSON as its value, times in ms. */
export type RecordOf<S> = S extends Selection<infer C, infer K> ? Flat<Values<C, K>> : never
/** What an insert takes: all columns, hidden ones included; those that may be NULL or have a DEFAULT may be left out. */
export type InsertOf<T> = T extends Table<infer C> ? Flat<Inserted<C>> : never

/** Some columns of a table, to be read. */
export class Selection<C extends Columns, K extends Named<C>> {
  readonly name: string
  /** The SELECT list. */
  readonly columns: string
  /** The record of a row; the row may have other columns as well. */
  readonly record: (row: Raws<C, K>) => Flat<Values<C, K>>
  readonly #names: readonly K[]

  constructor(table: string, columns: C, names: readonly K[]) {
    this.name = table
    this.#names = names
    this.columns = names.join(', ')
    this.record = objectMaker(
      names.map((name) => [memberName(columns, name), valueExpression(name, columns[name]!.traits)]),
      { parse: JSON.parse },
    )
  }

  /** The SELECT list of a statement in which the table has an alias. */
  of(alias: string): string {
    return this.#names.map((name) => `${alias}.${name}`).join(', ')
  }

  /** @param rest the statement from WHERE on */
  get(reader: Pick<Reader, 'get'>, rest: string, values: readonly SqlValue[] = []): Flat<Values<C, K>> | undefined {
    const row = reader.get<Raws<C, K>>(this.#sql(rest), values)
    return row && this.record(row)
  }

  /** The same for all rows. */
  all(reader: Reader, rest: string, values: readonly SqlValue[] = []): Flat<Values<C, K>>[] {
    return reader.all<Raws<C, K>>(this.#sql(rest), values).map(this.record)
  }

  #sql(rest: string): string {
    return `SELECT ${this.columns} FROM ${this.name} ${rest}`
  }
}

/** A table, and the selection of all its columns that are not hidden. */
export class Table<C extends Columns> extends Selection<C, Shown<C>> {
  readonly declared: C
  /** The row of an insert; all rows have the same columns. */
  readonly row: (record: Flat<Inserted<C>>) => Row

  constructor(name: string, columns: C) {
    super(name, columns, namesOf(columns, ({ isHidden }) => !isHidden) as Shown<C>[])
    this.declared = columns
    this.row = objectMaker(
      namesOf(columns, ({ isAssigned }) => !isAssigned).map((column) => [
        column,
        storedExpression(memberName(columns, column), columns[column]!.traits),
      ]),
      { stringify: JSON.stringify },
    )
  }

  /** These columns only; hidden ones can be among them. */
  only<K extends Named<C>>(...names: K[]): Selection<C, K> {
    return new Selection(this.name, this.declared, names)
  }

  /** The columns that are not hidden, and some that are. */
  and<K extends Marked<C, 'hidden'>>(...hidden: K[]): Selection<C, Shown<C> | K> {
    const shown = namesOf(this.declared, ({ isHidden }) => !isHidden) as Shown<C>[]
    return new Selection(this.name, this.declared, [...shown, ...hidden])
  }

  /** @returns the integer key of the row */
  insert(tx: Tx, record: Flat<Inserted<C>>): number {
    return tx.insert(this.name, this.row(record))
  }

  insertAll(tx: Tx, records: readonly Flat<Inserted<C>>[]): void {
    insertMany(tx, this.name, records.map(this.row))
  }

  /**
   * Updates the columns of the members that are not undefined.
   * @param rest the statement from WHERE on
   * @returns the number of changed rows
   */
  update(tx: Tx, changes: Changes<C>, rest: string, values: readonly SqlValue[]): number {
    const row = this.row(changes as unknown as Flat<Inserted<C>>)
    const members: Readonly<Record<string, unknown>> = changes
    const changed = Object.keys(row).filter((column) => members[memberName(this.declared, column)] !== undefined)
    const marks = changed.map((column) => `${column} = ?`).join(', ')
    const written = changed.map((column) => row[column])
    return tx.run(`UPDATE ${this.name} SET ${marks} ${rest}`, [...written, ...values]).changes
  }
}

/** Declares a table; the file that owns it exports the declaration. A test compares it with the table that the migrations make. */
export function table<C extends Columns>(name: string, columns: C): Table<C> {
  return new Table(name, columns)
}

function namesOf<C extends Columns>(columns: C, matches: (traits: Traits) => boolean): Named<C>[] {
  return (Object.keys(columns) as Named<C>[]).filter((name) => matches(columns[name]!.traits))
}

function memberName(columns: Columns, name: string): string {
  return camelCase(columns[name]!.traits.member ?? name)
}

/** The expression of a value in a record. */
function valueExpression(name: string, { kind, isNullable }: Traits): string {
  const raw = fromMember(name)
  const value = { json: `parse(${raw})`, flag: `${raw} === 1` }[kind as string] ?? raw
  return isNullable && value !== raw ? `${raw} === null ? null : ${value}` : value
}

/** The expression of a value in a row. */
function storedExpression(member: string, { kind, fallback }: Traits): string {
  const value = fromMember(member)
  const stored = kind === 'json' ? `${value} === null ? null : stringify(${value})` : value
  return `${value} === undefined ? ${JSON.stringify(fallback)} : ${stored}`
}
