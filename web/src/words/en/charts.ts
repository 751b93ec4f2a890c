// Words of charts, and of the tables beside them.

export const charts = {
  asTable: 'As a table',
  asChart: 'As a chart',
  time: 'Time',
  today: 'Today',
  hours: (day: string, from: number, to: number) => `${day}, ${from}–${to} h`,
  week: (day: string) => `Week of ${day}`,
}
