#!/usr/bin/python3
"""logind.py - a logind of python3-dbusmock's, told what happens there

logind.py serve             until it is killed; $DBUS_SYSTEM_BUS_ADDRESS is its bus
logind.py login ID USER     a graphical session begins
logind.py logout ID
logind.py set ID NAME 0|1   a property of it is so from now on, and is signalled
logind.py sleep 0|1         the host is about to sleep, or wakes up
logind.py shutdown 0|1      ... to go down, or that was given up
logind.py waits             prints for whom a sleep waits
"""
import os
import sys

import dbus

NAME, ROOT = "org.freedesktop.login1", "/org/freedesktop/login1"
MOCK = "org.freedesktop.DBus.Mock"


def mock(path=ROOT):
    return dbus.Interface(dbus.SystemBus().get_object(NAME, path), MOCK)


def emit(member, types, *values):
    mock().EmitSignal(NAME + ".Manager", member, types, list(values))


def session(ident):
    return ROOT + "/session/" + ident


def login(ident, user):
    mock().AddSession(ident, "seat0", dbus.UInt32(1000), user, True)
    mock(session(ident)).UpdateProperties(NAME + ".Session", {"Type": "wayland"})
    emit("SessionNew", "so", ident, dbus.ObjectPath(session(ident)))


def main(verb, *args):
    if verb == "serve":
        python = "/usr/bin/python3"
        os.execv(python, [python, "-m", "dbusmock", "--template", "logind"])
    elif verb == "login":
        login(*args)
    elif verb == "logout":
        mock().RemoveObject(session(args[0]))
        emit("SessionRemoved", "so", args[0], dbus.ObjectPath(session(args[0])))
    elif verb == "set":
        mock(session(args[0])).UpdateProperties(
            NAME + ".Session", {args[1]: dbus.Boolean(int(args[2]))})
    elif verb in ("sleep", "shutdown"):
        emit("PrepareFor" + verb.title(), "b", dbus.Boolean(int(args[0])))
    elif verb == "waits":
        manager = dbus.Interface(dbus.SystemBus().get_object(NAME, ROOT), NAME + ".Manager")
        print(*(str(i[1]) for i in manager.ListInhibitors()))


main(*sys.argv[1:])
