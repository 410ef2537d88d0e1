"""What is taken out of a text, and what becomes of it."""

from __future__ import annotations

import pytest

from ebbing.domain.errors import ConfigurationError
from ebbing.privacy.redaction.redact import DEFAULT, Action, Category, Finding, Redacted, RedactionPolicy, redact

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdefABCDEF\nabcd=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

FOUND: list[tuple[str, str]] = [
    # e-mail
    ("邮箱zhang.san@example.com，谢谢", "邮箱[REDACTED_EMAIL]，谢谢"),
    ("write to Ann.Lee+news@mail.example.co.uk.", "write to [REDACTED_EMAIL]."),
    ("我的邮箱：ｚｈａｎｇ＠example.com", "我的邮箱：[REDACTED_EMAIL]"),
    ("bob at example dot com", "[REDACTED_EMAIL]"),
    ("bob (at) example (dot) org", "[REDACTED_EMAIL]"),
    # telephones
    ("我的手机13812345678谢谢", "我的手机[REDACTED_PHONE]谢谢"),
    ("电话:138 1234 5678", "电话:[REDACTED_PHONE]"),
    ("打138-1234-5678找我", "打[REDACTED_PHONE]找我"),
    ("手机号是１３８１２３４５６７８", "手机号是[REDACTED_PHONE]"),
    ("联系电话 +86 138 0013 8000", "联系电话 [REDACTED_PHONE]"),
    ("1\u200b38\u200b12345678", "[REDACTED_PHONE]"),
    ("138\u20131234\u20135678", "[REDACTED_PHONE]"),
    ("号码幺三八零零一三八零零零", "号码[REDACTED_PHONE]"),
    ("座机010-62345678转123。", "座机[REDACTED_PHONE]。"),
    ("(0755)88889999", "[REDACTED_PHONE]"),
    ("电话62345678", "电话[REDACTED_PHONE]"),
    ("13812345678,13912345678", "[REDACTED_PHONE],[REDACTED_PHONE]"),
    ("call (212) 555-0123 or 212-555-0199", "call [REDACTED_PHONE] or [REDACTED_PHONE]"),
    ("from abroad: +44 20 7946 0958", "from abroad: [REDACTED_PHONE]"),
    ("020 7946 0958 or 07700 900123", "[REDACTED_PHONE] or [REDACTED_PHONE]"),
    ("my phone number is 5550123", "my phone number is [REDACTED_PHONE]"),
    # documents and accounts
    ("身份证11010519491231002X。", "身份证[REDACTED_ID_CARD]。"),
    ("证件 110105 19491231 002x", "证件 [REDACTED_ID_CARD]"),
    ("我的身份证号是110101199001011234", "我的身份证号是[REDACTED_ID_CARD]"),
    ("卡4111 1111 1111 1111 123", "卡[REDACTED_BANK_CARD] 123"),
    ("5500-0000-0000-0004 expires soon", "[REDACTED_BANK_CARD] expires soon"),
    ("银行卡号是6222020000000000001", "银行卡号是[REDACTED_BANK_CARD]"),
    ("卡号 6212 2610 0000 0000 000", "卡号 [REDACTED_BANK_CARD]"),
    ("IBAN DE89 3704 0044 0532 0130 00 BIC COBA", "IBAN [REDACTED_IBAN] BIC COBA"),
    ("pay to GB82WEST12345698765432", "pay to [REDACTED_IBAN]"),
    ("SSN 123-45-6789", "SSN [REDACTED_US_SSN]"),
    ("my social security number is 123456789", "my social security number is [REDACTED_US_SSN]"),
    ("护照号E12345678", "护照号[REDACTED_PASSPORT]"),
    ("passport number is X1234567", "passport number is [REDACTED_PASSPORT]"),
    # keys
    ("key sk-proj-abcdEFGH1234567890xyz", "key [REDACTED_API_KEY]"),
    ("用AKIAIOSFODNN7EXAMPLE登录", "用[REDACTED_API_KEY]登录"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[REDACTED_API_KEY]"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv", "[REDACTED_API_KEY]"),
    ("xoxb-123456789012-abcdefGHIJKL", "[REDACTED_API_KEY]"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[REDACTED_API_KEY]"),
    (f"jwt {JWT} end", "jwt [REDACTED_API_KEY] end"),
    ("Authorization: Bearer abcdef1234567890abcdef", "Authorization: Bearer [REDACTED_API_KEY]"),
    ('API_KEY="abc123def456ghi"', 'API_KEY="[REDACTED_API_KEY]"'),
    ("密钥是9f8e7d6c5b4a", "密钥是[REDACTED_API_KEY]"),
    (f"{PEM} and more", "[REDACTED_PRIVATE_KEY] and more"),
    ("postgres://me:p@ss@db.example.com:5432/x", "postgres://[REDACTED_URL_CREDENTIALS]@db.example.com:5432/x"),
    # passwords
    ("the password is hunter2.", "the password is [REDACTED_PASSWORD]."),
    ("my wifi password is swordfish", "my wifi password is [REDACTED_PASSWORD]"),
    ("my password for the bank is tr0ub4dor&3", "my password for the bank is [REDACTED_PASSWORD]"),
    ("Username: bob, Password: letmein", "Username: bob, Password: [REDACTED_PASSWORD]"),
    ('my passphrase is "correct horse battery staple".', 'my passphrase is "[REDACTED_PASSWORD]".'),
    ("支付宝账号13812345678", "支付宝账号[REDACTED_PHONE]"),
    ("张三/13812345678/北京", "张三/[REDACTED_PHONE]/北京"),
    ("+86-138-1234-5678", "[REDACTED_PHONE]"),
    ("0086 13812345678", "[REDACTED_PHONE]"),
    ("my number is 4155552671", "my number is [REDACTED_PHONE]"),
    ("WhatsApp +34 612 34 56 78", "WhatsApp [REDACTED_PHONE]"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [REDACTED_API_KEY]"),
    ("密码是abc123,别告诉别人", "密码是[REDACTED_PASSWORD],别告诉别人"),
    ("密码：hunter2", "密码：[REDACTED_PASSWORD]"),
    ("支付密码改成了852963", "支付密码改成了[REDACTED_PASSWORD]"),
    ("pwd: abc@123!", "pwd: [REDACTED_PASSWORD]"),
    ('{"password": "s3cret!"}', '{"password": "[REDACTED_PASSWORD]"}'),
    ("my PIN is 4821", "my PIN is [REDACTED_PASSWORD]"),
    ("验证码是482913", "验证码是[REDACTED_PASSWORD]"),
]

KEPT = [
    "2024-04-11 9:00 开始，2024年5月8日结束",
    "12/05/2024 18:45, 2024.05.08, 20240508, 08:30-09:15",
    "订单号13812345678，运单号 4111111111111111",
    "order 13812345678 arrived, invoice #212-555-0123",
    "ISBN 978-0-306-40615-7 and 9780306406157",
    "version 10.15.7.1, node v18.12.1, bootstrap@5.3.0 and setup-node@v3",
    "icon@2x.png and git@github.com:me/repo.git and @app.route",
    "价格 13800000000 元, $15,000,000,000, about 15000000000 people",
    "1999 2003 2008 2012 were good years, 1985-2010 too",
    "timestamps 1712800000 and 1712800000000",
    "11010519491231002Y and 110105194913310021 are no ID cards",
    "4111 1111 1111 1112 fails its check digit",
    "GB82WEST12345698765433 fails as well",
    "the password is required and the password must be long",
    "password = request.form['password']; token = data.get('token')",
    "password: 8-20 characters, your password is not correct",
    "密码是什么？密码不对，密码忘了，密码长度8位",
    "sk-learn-estimator-doc and sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "api_key = YOUR_API_KEY_HERE_123, token: my.service.token",
    "张伟和Jesica住在北京市朝阳区，号码牌 12345",
    "we sold 1234567 phones and 7654321 cards",
    "I was born on 1990-05-06, my flat is 4821",
    "my server is 192.168.1.1",
    "Pi is 3.14159265358979, the distance 384400000 m",
    "https://example.com/13812345678?id=13912345678",
    "Password: required, password: string",
    "会员卡号 1234567890123456",
    "数据是 1.38 1234 5678 万",
]


@pytest.mark.parametrize(("text", "redacted"), FOUND)
def test_what_is_personal_or_secret_is_masked(text: str, redacted: str) -> None:
    assert redact(text).text == redacted


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize(("text", "redacted"), FOUND)
def test_a_redacted_text_has_nothing_more_to_hide(text: str, redacted: str) -> None:
    assert redact(redacted).text == redacted


def test_a_finding_says_where_in_the_original_and_not_what() -> None:
    text = "电\u200b话１３８１２３４５６７８，邮箱 a@example.com"
    findings = redact(text).findings
    assert findings == (Finding(Category.PHONE, 3, 14), Finding(Category.EMAIL, 18, 31))
    assert text[3:14] == "１３８１２３４５６７８"
    assert "example" not in repr(findings)


def test_every_category_but_ip_addresses_is_masked_by_default() -> None:
    assert {category for category in Category if DEFAULT.actions[category] is not Action.MASK} == {Category.IP_ADDRESS}


@pytest.mark.parametrize("address", ["192.168.1.1", "2001:db8::ff00:42:8329"])
def test_ip_addresses_are_masked_when_switched_on(address: str) -> None:
    text = f"my server is {address}."
    assert redact(text, DEFAULT.but(ip_address="mask")).text == "my server is [REDACTED_IP_ADDRESS]."
    assert redact("v1.2.3.4.5 at 12:30:45", DEFAULT.but(ip_address="mask")).findings == ()


def test_an_allowed_category_stays_and_is_not_reported() -> None:
    kept = redact("a@example.com, 13812345678", DEFAULT.but(email="allow"))
    assert kept.text == "a@example.com, [REDACTED_PHONE]"
    assert [finding.category for finding in kept.findings] == [Category.PHONE]


def test_an_allowed_value_is_not_taken_for_something_else() -> None:
    text = "IBAN DE89 3704 0044 0532 0130 00"
    assert redact(text, DEFAULT.but(iban="allow")).text == text


def test_a_hash_is_the_same_for_the_same_number_however_it_is_written() -> None:
    policy = RedactionPolicy(hash_key=b"of this installation").but(phone="hash")
    one, two, other = (redact(text, policy).text for text in ("13812345678", "138-1234-5678", "13912345678"))
    assert one == two != other
    assert one.startswith("[PHONE:")
    assert redact(one, policy).text == one


def test_a_hash_depends_on_the_key() -> None:
    first, second = (RedactionPolicy(hash_key=key).but(email="hash") for key in (b"first", b"second"))
    assert redact("a@example.com", first).text != redact("a@example.com", second).text


def test_a_hash_without_a_key_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="hash_key"):
        DEFAULT.but(phone="hash")


def test_the_key_does_not_show_in_a_policy() -> None:
    assert "of this" not in repr(RedactionPolicy(hash_key=b"of this installation"))


def test_a_dropped_value_leaves_no_trace() -> None:
    assert redact("密码是hunter2。", DEFAULT.but(password="drop")).text == "密码是。"


def test_a_blocked_text_is_refused_as_a_whole() -> None:
    refused = redact(f"my key: {PEM}", DEFAULT.but(private_key="block"))
    assert (refused.text, refused.blocked) == ("", True)
    assert [finding.category for finding in refused.findings] == [Category.PRIVATE_KEY]


def test_names_of_people_are_no_category() -> None:
    with pytest.raises(ConfigurationError, match="no redaction category"):
        DEFAULT.but(name="mask")


def test_an_unknown_action_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="allow, mask, hash, drop, block"):
        DEFAULT.but(email="scramble")


def test_a_policy_may_name_only_what_differs() -> None:
    policy = RedactionPolicy({Category.EMAIL: Action.ALLOW})
    assert policy.actions[Category.PHONE] is Action.MASK


def test_numbers_side_by_side_are_all_found() -> None:
    assert redact("(212) 555-0123" * 50).text == "[REDACTED_PHONE]" * 50
    assert redact("a@b.co+a@b.co+" * 50).text.count("@") == 0
