/** A table of what the service lists, with a button to make one more. */
import type { ComponentChildren } from "preact";
import type { ServiceError } from "../api/client";
import { Button } from "./button";
import { Empty, Failure, Loading } from "./states";
import { Table, type Column } from "./table";

interface ListedProps<T> {
  list: { error: ServiceError | null; isLoading: boolean };
  rows: readonly T[] | undefined;
  columns: readonly Column<T>[];
  caption: string;
  none: string;
  add?: string;
  onAdd?: () => void;
  children?: ComponentChildren;
}

export function Listed<T extends object>({ list, rows, columns, caption, none, add, onAdd, children }: ListedProps<T>) {
  return (
    <>
      {add && (
        <div class="toolbar">
          <Button icon="add" onClick={onAdd}>
            {add}
          </Button>
        </div>
      )}
      {list.error && <Failure error={list.error} />}
      {!rows && list.isLoading && <Loading rows={4} />}
      {rows && !rows.length && <Empty title={none} />}
      {rows && rows.length > 0 && (
        <Table caption={caption} columns={columns} rows={rows} rowKey={(row) => ("id" in row ? String(row.id) : JSON.stringify(row))} />
      )}
      {children}
    </>
  );
}
