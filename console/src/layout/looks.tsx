/** Language, and light or dark. */
import { Button } from "../parts/button";
import type { IconName } from "../parts/icons";
import { language, setLanguage, t } from "../i18n";
import { setTheme, theme, type Theme } from "../state/theme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICONS: Record<Theme, IconName> = { system: "system", light: "sun", dark: "moon" };

export function Looks() {
  const isChinese = language.value === "zh";
  return (
    <div class="looks">
      <Button
        kind="quiet"
        small
        icon={ICONS[theme.value]}
        label={t("looks.theme", { name: t(`looks.${theme.value}`) })}
        onClick={() => setTheme(NEXT[theme.value])}
      />
      <button
        type="button"
        class="button quiet small"
        lang={isChinese ? "en" : "zh-CN"}
        onClick={() => setLanguage(isChinese ? "en" : "zh")}
      >
        <span>{isChinese ? "English" : "中文"}</span>
      </button>
    </div>
  );
}
