/** A table that scrolls by itself where the window is narrow. */
import type { ComponentChildren } from "preact";
import { classes } from "./button";

export interface Column<T> {
  id: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers stand to the right. */
  numeric?: boolean;
  /** Left out where the window is narrow. */
  wideOnly?: boolean;
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
}

export function Table<T>({ caption, columns, rows, rowKey }: TableProps<T>) {
  const nameOf = (column: Column<T>) => classes(column.numeric && "numeric", column.wideOnly && "wide-only");
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" class={nameOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th key={column.id} scope="row" class={nameOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.id} class={nameOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
