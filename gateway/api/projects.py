"""Routes of projects."""

from __future__ import annotations

from fastapi import APIRouter

from desk import projects
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/projects", tags=["projects"], responses=RESPONSES)

router.post("", status_code=201, summary="Make a project, and lead it")(served(projects.make_project))
router.get("", summary="Your projects, or those that asked for your data sets")(
    served(projects.list_projects)
)
router.get("/{project}", summary="One project: members and grants")(served(projects.get_project))
router.get("/{project}/history", summary="What happened to a project and its grants, newest first")(
    served(projects.get_project_history)
)
router.put("/{project}/members/{member}", summary="Add a data user to a project that you lead")(
    served(projects.add_member)
)
router.delete("/{project}/members/{member}", summary="Remove a member, or leave a project")(
    served(projects.remove_member)
)
router.put("/{project}/lead", summary="Let another member lead")(served(projects.hand_over))
router.post("/{project}/closing", summary="Close a project that you lead, for good")(
    served(projects.close_project)
)
