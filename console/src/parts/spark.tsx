/** A row of small bars, such as memories a week. */

export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  const width = 6;
  return (
    <svg class="spark" role="img" aria-label={label} width={values.length * width} height={22}>
      {values.map((value, place) => {
        const height = value === 0 ? 1 : Math.max(2, (value / most) * 20);
        return <rect key={place} x={place * width} y={22 - height} width={width - 2} height={height} rx={1} />;
      })}
    </svg>
  );
}
