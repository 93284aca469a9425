"""OCSF 1.5.0 as models that events must fit: what is required, allowed, and of which type.

`py-ocsf-models` has the base event and several objects, but not the classes of network, application
and identity events: those are put together here, from the schema.
"""

from ipaddress import ip_address
from typing import Annotated, Any, Self

from py_ocsf_models import OCSF_VERSION
from py_ocsf_models.events.base_event import BaseEvent
from py_ocsf_models.events.findings.disposition_id import DispositionID
from py_ocsf_models.objects.api import API
from py_ocsf_models.objects.metadata import Metadata
from py_ocsf_models.objects.url import URL
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Port = Annotated[int, Field(ge=0, le=65535)]
Integer = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
Ip = Annotated[str, AfterValidator(lambda text: str(ip_address(text)))]


class Strict(BaseModel):
    """An object with nothing in it that the schema doesn't know."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Endpoint(Strict):
    """network_endpoint"""

    ip: Ip | None = None
    uid: str | None = None
    name: str | None = None
    hostname: str | None = None
    svc_name: str | None = None
    port: Port | None = None
    type: str | None = None
    type_id: int | None = None

    @model_validator(mode="after")
    def says_which(self) -> Self:
        assert self.ip or self.uid or self.name or self.hostname or self.svc_name
        return self


class User(Strict):
    """user"""

    name: str | None = None
    uid: str | None = None

    @model_validator(mode="after")
    def says_who(self) -> Self:
        assert self.name or self.uid
        return self


class Session(Strict):
    """session"""

    uid: str


class Actor(Strict):
    """actor"""

    user: User | None = None
    session: Session | None = None
    app_name: str | None = None

    @model_validator(mode="after")
    def says_who(self) -> Self:
        assert self.user or self.session or self.app_name
        return self


class Traffic(Strict):
    """network_traffic"""

    bytes: Long | None = None
    bytes_in: Long | None = None
    bytes_out: Long | None = None


class Connection(Strict):
    """network_connection_info"""

    direction_id: Annotated[int, Field(ge=0, le=3)]
    direction: str | None = None


class Rule(Strict):
    """firewall_rule"""

    name: str


class Url(URL):
    """url: one of its two names is there"""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="after")
    def says_where(self) -> Self:
        assert self.url_string or self.path
        return self


class Request(Strict):
    """http_request"""

    http_method: str | None = None
    url: Url | None = None
    length: Integer | None = None
    uid: str | None = None


class Response(Strict):
    """http_response"""

    code: Integer
    length: Integer | None = None
    latency: Integer | None = None


class Service(Strict):
    """service"""

    name: str


class Event(BaseEvent):
    """What every event has; status is that of activities, not that of findings."""

    model_config = ConfigDict(extra="forbid")

    class_uid: int
    class_name: str
    category_uid: int
    category_name: str
    activity_id: int
    activity_name: str
    type_uid: Long
    type_name: str
    time: Annotated[Long, Field(gt=0)]
    status_id: Any = Field(default=None)

    @model_validator(mode="after")
    def adds_up(self) -> Self:
        assert self.type_uid == self.class_uid * 100 + self.activity_id
        assert self.class_uid // 1000 == self.category_uid
        assert self.status_id in {None, 0, 1, 2, 99}
        Metadata.model_validate(self.metadata)
        assert self.metadata.version == OCSF_VERSION
        assert self.metadata.product.vendor_name
        return self


class Activity(Event):
    """An event with the profiles `host` and `security_control`."""

    start_time: Long | None = None
    end_time: Long | None = None
    duration: Long | None = None
    count: Integer | None = None
    action_id: Annotated[int, Field()]
    action: str
    disposition_id: DispositionID
    disposition: str
    actor: Actor | None = None
    firewall_rule: Rule | None = None
    src_endpoint: Endpoint
    dst_endpoint: Endpoint | None = None

    @model_validator(mode="after")
    def action_is_known(self) -> Self:
        assert self.action_id in {0, 1, 2, 3, 4, 99}
        assert self.metadata.profiles == ["host", "security_control"]
        return self


class NetworkActivity(Activity):
    """network_activity, 4001"""

    activity_id: Annotated[int, Field(ge=0, le=7)]
    connection_info: Connection | None = None
    traffic: Traffic | None = None


class HttpActivity(Activity):
    """http_activity, 4002"""

    connection_info: Connection | None = None
    traffic: Traffic | None = None
    http_request: Request | None = None
    http_response: Response | None = None

    @model_validator(mode="after")
    def is_http(self) -> Self:
        assert self.activity_id in {*range(9), 99}
        assert self.http_request or self.http_response
        return self


class ApiActivity(Activity):
    """api_activity, 6003"""

    api: API
    actor: Actor

    @model_validator(mode="after")
    def is_a_call(self) -> Self:
        assert self.activity_id in {0, 1, 2, 3, 4, 99}
        return self


class Authentication(Activity):
    """authentication, 3002"""

    user: User
    service: Service
    is_remote: bool | None = None

    @model_validator(mode="after")
    def is_a_logon(self) -> Self:
        assert self.activity_id in {*range(7), 99}
        return self


MODELS: dict[int, type[Event]] = {
    0: Event,
    3002: Authentication,
    4001: NetworkActivity,
    4002: HttpActivity,
    6003: ApiActivity,
}


def validated(event: dict[str, Any]) -> Event:
    """The event, as the model of its class. Raises: ValidationError when it doesn't fit the schema."""
    return MODELS[event["class_uid"]].model_validate(event)
